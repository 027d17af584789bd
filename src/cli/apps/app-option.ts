/** The option that names the app; the same words in every command. */
export const APP_OPTION = ['-a, --app <app>', 'the app (default: that of the git remote "tancho")'] as const;
