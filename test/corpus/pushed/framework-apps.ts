/** Apps for Node in the shape of one framework each. */
import { json, type PushedApps } from './pushed-app.ts';

const VITE = {
  'index.html': '<!doctype html><div id="app"></div><script type="module" src="/src/main.js"></script>',
  'src/main.js': 'document.querySelector("#app").textContent = "from the browser";\n',
};

export const FRAMEWORKS: PushedApps = {
  'Express with its packages': {
    needs: ['npm'],
    files: {
      'package.json': json({ dependencies: { express: '5' }, scripts: { start: 'node ./bin/www' } }),
      'bin/www': "require('../app').listen(process.env.PORT);\n",
      'app.js': "module.exports = require('express')().get('/', (_, answer) => answer.send('from Express'));\n",
    },
    pages: { '/': 'from Express' },
  },
  'TypeScript that is compiled': {
    needs: ['npm'],
    files: {
      'package.json': json({
        scripts: { build: 'tsc', start: 'node dist/index.js' },
        devDependencies: { '@types/node': '22', typescript: '5' },
      }),
      'tsconfig.json': json({
        compilerOptions: { outDir: 'dist', module: 'commonjs', target: 'es2022', types: ['node'], skipLibCheck: true },
        include: ['src'],
      }),
      'src/index.ts':
        "import { createServer } from 'node:http';\nconst text: string = 'compiled';\ncreateServer((_, answer) => answer.end(text)).listen(process.env.PORT);\n",
    },
    pages: { '/': 'compiled' },
  },
  'TypeScript that a development package runs': {
    needs: ['npm'],
    files: {
      'package.json': json({ scripts: { start: 'tsx index.ts' }, devDependencies: { tsx: '4' } }),
      'index.ts':
        "import http from 'node:http';\nhttp.createServer((_, answer) => answer.end('by tsx')).listen(process.env.PORT);\n",
    },
    says: ['Development packages stay'],
    pages: { '/': 'by tsx' },
  },
  'Vite, whose start is a development server': {
    needs: ['npm'],
    files: {
      ...VITE,
      'package.json': json({ scripts: { start: 'vite', build: 'vite build' }, devDependencies: { vite: '7' } }),
    },
    says: ['runs a development server'],
    pages: { '/': '/assets/', '/deep/link': '/assets/' },
  },
  Eleventy: {
    isExtra: true,
    needs: ['npm'],
    files: { 'package.json': json({ devDependencies: { '@11ty/eleventy': '3' } }), 'index.md': '# from Eleventy\n' },
    pages: { '/': '<h1>from Eleventy</h1>' },
  },
  'Astro with a server of its own': {
    isExtra: true,
    needs: ['npm'],
    files: {
      'package.json': json({
        type: 'module',
        scripts: { dev: 'astro dev', build: 'astro build' },
        dependencies: { astro: '5', '@astrojs/node': '9' },
      }),
      'astro.config.mjs':
        "import node from '@astrojs/node';\nexport default { output: 'server', adapter: node({ mode: 'standalone' }) };\n",
      'src/pages/index.astro':
        '<html><head><title>x</title></head><body><h1>{Astro.url.pathname} is made</h1></body></html>\n',
    },
    pages: { '/': '/ is made' },
  },
  'Nest as its program makes it': {
    isExtra: true,
    needs: ['npm'],
    files: {
      'package.json': json({
        scripts: { build: 'nest build', start: 'nest start', 'start:prod': 'node dist/main' },
        dependencies: {
          '@nestjs/common': '11',
          '@nestjs/core': '11',
          '@nestjs/platform-express': '11',
          'reflect-metadata': '0.2',
          rxjs: '7',
        },
        devDependencies: { '@nestjs/cli': '11', typescript: '5', '@types/node': '22' },
      }),
      'nest-cli.json': json({ sourceRoot: 'src' }),
      'tsconfig.json': json({
        compilerOptions: {
          module: 'commonjs',
          target: 'es2022',
          outDir: './dist',
          rootDir: './src',
          experimentalDecorators: true,
          emitDecoratorMetadata: true,
          skipLibCheck: true,
        },
        include: ['src'],
      }),
      'src/main.ts':
        "import { Controller, Get, Module } from '@nestjs/common';\nimport { NestFactory } from '@nestjs/core';\n@Controller()\nclass Home {\n  @Get()\n  home(): string {\n    return 'from Nest';\n  }\n}\n@Module({ controllers: [Home] })\nclass App {}\nvoid NestFactory.create(App).then((app) => app.listen(process.env.PORT ?? 3000));\n",
    },
    pages: { '/': 'from Nest' },
  },
  'Next.js, standalone': {
    needs: ['npm'],
    files: {
      'package.json': json({
        scripts: { build: 'next build', start: 'next start' },
        dependencies: { next: '15', react: '19', 'react-dom': '19' },
      }),
      'next.config.mjs': "export default { output: 'standalone' };\n",
      'public/robots.txt': 'of public',
      'pages/index.js':
        'export default () => <h1>from its own server</h1>;\nexport const getServerSideProps = () => ({ props: {} });\n',
    },
    says: ['.next/standalone/server.js'],
    pages: { '/': 'from its own server', '/robots.txt': 'of public' },
  },
};
