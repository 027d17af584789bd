/** The style sheet of the page at /docs. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --soft: #5d6670; --line: #dfe3e8; --back: #fff; --field: #f5f7f9; --link: #0b5cad;
  --get: #14713b; --post: #0b5cad; --put: #8a5a00; --delete: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7ea; --soft: #9aa4ae; --line: #2f363d; --back: #14181c; --field: #1d2329; --link: #7db8f5;
    --get: #6fcf97; --post: #7db8f5; --put: #e3b341; --delete: #ff8f87; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus { text-decoration: underline; }
header { border-bottom: 1px solid var(--line); padding: 1rem 1.5rem; }
header h1 { display: inline-block; font-size: 1.25rem; margin: 0 1rem 0 0; }
header p { color: var(--soft); margin: .4rem 0 .8rem; max-width: 48rem; }
.variants a { display: inline-block; margin-right: .9rem; }
.variants a[aria-current] { color: var(--text); font-weight: 600; text-decoration: underline; }
form { display: flex; gap: .5rem; max-width: 32rem; }
input, button { background: var(--field); border: 1px solid var(--line); border-radius: 6px; color: inherit; font: inherit; padding: .4rem .7rem; }
input { flex: 1; min-width: 0; }
.columns { display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
nav.list { border-right: 1px solid var(--line); font-size: .875rem; height: 100vh; overflow-y: auto; padding: 1rem 1.5rem; position: sticky; top: 0; }
nav h2 { font-size: .8rem; letter-spacing: .04em; margin: 1rem 0 .2rem; text-transform: uppercase; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.narrow { display: none; }
main { max-width: 60rem; padding: 1rem 1.5rem 4rem; }
main > h2 { border-bottom: 1px solid var(--line); margin: 2.5rem 0 0; padding-bottom: .3rem; }
main > h2:first-child { margin-top: 0; }
section { border-bottom: 1px solid var(--line); padding: 1.2rem 0; }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
h3 a { color: inherit; }
h4 { color: var(--soft); font-size: .85rem; margin: 1rem 0 .3rem; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em; }
pre { background: var(--field); border: 1px solid var(--line); border-radius: 6px; margin: .3rem 0; overflow-x: auto; padding: .6rem .8rem; }
.method { display: inline-block; font: 600 .8rem ui-monospace, Menlo, Consolas, monospace; min-width: 3.6rem; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .delete { color: var(--delete); }
.facts { color: var(--soft); font-size: .875rem; margin: .2rem 0 0; }
table { border-collapse: collapse; font-size: .9rem; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: .25rem .8rem .25rem 0; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
th:first-child { width: 9rem; }
@media (max-width: 50rem) {
  header, main { padding-left: 1rem; padding-right: 1rem; }
  .columns { display: block; }
  nav.list { display: none; }
  .narrow { display: block; padding: .8rem 1rem 0; }
  .narrow li { padding: .2rem 0; }
}
`;
