/** What a hint begins with -> why no push of a test can take it. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'Put it into a file and COPY that':
    'the server has to have a buildah before 1.35; dockerfile.test.ts and described-tools.test.ts have it',
  'Make the largest of them smaller, or take them out':
    'a source has to hold more than 64 MiB; source-files.test.ts has it',
  'Try again; another port will be chosen.': 'a foreign process has to take the port between its choice and the start',
  'An admin can change it: tancho platform update.':
    'a definition is checked when it is stored: only an older program leaves one',
  'Ask the operator to free space on the server':
    'a disk has to be full; failures of steps by that are in run-step.test.ts',
  'Push again; if it stays so, an operator has to look at what':
    'a registry has to answer with something else than a list',
  'Push again; if it stays so, the operator has to look at the program':
    'a daemon has to give out something else than an image; docker-archive.test.ts has it',
  'Deploy an image in place of code': 'the server has to run in a pod that may not build',
  '--user <user> --team <team>   (that of the server':
    'a registry has to refuse a login; copies.test.ts gives one that it takes',
  '--user <user> --team <team>   (or an operator one':
    'a registry has to want a login; copies.test.ts gives one, as the command does',
  '; or choose another name in tancho.yaml.': 'a service has to be bound; test/domain/binding-names.test.ts has it',
  'into a file named .python-version at the top':
    'a newer Python has to be fetched from github.com or a mirror; its lines are in advice.test.ts',
  'Push again when less is going on': 'a program has to be kept from answering for a minute; programs.test.ts has it',
  'a .yarnrc.yml': 'a word in an advice, whose lines of yarn 2 and later are in advice.test.ts',
  'The certificate of a registry or repository is not trusted':
    'a registry with a certificate of its own; its lines are in advice.test.ts',
  'Its last lines say more; correct what ends it': 'a unit has to end between its readiness and the commit',
  'Look at the app as it is now': 'another rollout has to overtake one whose lease is lost; test/domain has it',
  'Make it anew, empty: tancho volume create': 'a release that mounted it is gone back to, not pushed',
  'An operator can bring it back from a backup': 'somebody has to remove the directory of a volume on the server',
  'Mount it below the code: tancho volume mount': 'releases are refused before, unless bubblewrap goes away later',
  'Give one program of the image': 'images are deployed, not pushed; image-command.test.ts has it',
  'The build fetches fonts from fonts.googleapis.com':
    'Google Fonts have to be out of reach; its lines are in advice.test.ts',
  ', which this server does not reach: if the build needs it':
    'a host has to be out of reach; its lines are in advice.test.ts',
  'A registry answered that it is out of order': 'a registry has to be out of order; its lines are in advice.test.ts',
  'Platforms of this server:': 'no app can be made, or be left, of a platform that is not there',
  "' to preview.allowedHosts and server.allowedHosts": 'Vite takes every name below localhost, where apps of tests are',
  "' to devServer.allowedHosts in its webpack.config.js": 'development servers are passed over for what can be built',
  "' to the file of its environment in config/environments": 'Rails refuses names in development only, unless asked',
  'Ask the operator to install the package "bubblewrap"': 'the server has to have a weaker level of isolation',
  'Ask the operator to name an image that has it in the setting':
    'images.base has to name an image of a registry; bases.long.test.ts builds on one',
  'Make its files part of the repository': 'a submodule has to be there; hugo.test.ts has the commands',
  'Add index.md or index.html at the top': 'the gem jekyll has to be there; ruby.test.ts has what is planned',
  'Ask the operator to install Hugo,': 'the package index has to be out of reach',
  'Ask the operator to install that Python,': 'a mirror of the Pythons that uv installs',
};
