/** Pure: what of /etc programs need to run, to find names of hosts, and to find what is installed. Nothing else of it is in a sandbox. */

const NAMES = `
X11 alternatives bash.bashrc ca-certificates ca-certificates.conf chromium chromium.d containers crypto-policies debian_version
environment ethertypes fonts gai.conf gitconfig glvnd host.conf hostname hosts inputrc ld.so.cache ld.so.conf ld.so.conf.d
locale.alias locale.conf locale.gen localtime magic magic.mime mailcap mime.types mtab netconfig networks npmrc nsswitch.conf pip.conf pki
profile profile.d protocols resolv.conf rpc sgml shells ssl static terminfo timezone wgetrc xdg xml services
`;
/** Languages and their tools keep theirs in folders that bear a version now and then. */
const LANGUAGES =
  /^(?:ImageMagick|R|dotnet|erlang|gradle|groovy|java|julia|maven|mono|node|perl|php|python|ruby)(?:-?\d.*|-java.*)?$/;
const RELEASE = /^(?:[a-z]+-)?release$/;

const WANTED: ReadonlySet<string> = new Set(NAMES.trim().split(/\s+/));

export function isWanted(name: string): boolean {
  return WANTED.has(name) || LANGUAGES.test(name) || RELEASE.test(name);
}
