/** Next steps of sites that a generator builds. */
import type { HintRow } from './hint-row.ts';

const page = 'mended';

export const SITE_ROWS: Readonly<Record<string, HintRow>> = {
  'Hugo without layouts': {
    from: 'build-plan/languages/hugo/hugo.ts',
    cause: 'build_failed',
    needs: ['pip'],
    files: { 'hugo.toml': 'title = "x"\n', 'content/first.md': '# Hello\n' },
    hint: 'Try "hugo" in the directory of the source: its warnings say which layouts are missing. Commit these, or the theme that has them, and push again.',
    follow: [{ edit: { 'layouts/index.html': '<p>mended</p>\n' } }],
    page,
  },
  'Hugo without its theme': {
    from: 'build-plan/languages/hugo/hugo.ts',
    cause: 'invalid_config',
    says: 'hugo.toml line 1 names the theme plain',
    needs: ['pip'],
    // Whose package is laid out otherwise than that of the newest.
    files: { 'hugo.toml': 'theme = "plain"\n', '.tool-versions': 'hugo 0.147.8\n' },
    hint: 'Put its files there: git add themes/plain && git commit -m "Add the theme", and push again.',
    follow: [{ edit: { 'themes/plain/layouts/index.html': '<p>mended</p>\n' } }],
    page,
  },
  'MkDocs without a first page': {
    from: 'build-plan/languages/python/mkdocs.ts',
    cause: 'build_failed',
    needs: ['pip'],
    files: { 'mkdocs.yml': 'site_name: x\n', 'docs/other.md': '# Other\n' },
    hint: 'Add docs/index.md, or README.md in the directory of the pages, commit and push again.',
    follow: [{ edit: { 'docs/index.md': '# mended\n' } }],
    page,
  },
};
