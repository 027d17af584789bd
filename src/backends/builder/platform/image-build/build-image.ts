/** One build of an image, from source with a Dockerfile to a finished slug: bases are fetched, buildah builds, the result is unpacked. */
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageRecipe } from '../../../../build-plan/build-plan.ts';
import { neededImages } from '../../../../build-plan/languages/dockerfile/stages.ts';
import type { Artifact } from '../../../../domain/deploys/builder.ts';
import { PACKED_IMAGE } from '../../../../domain/artifacts/artifact-store.ts';
import { imageCommand } from '../../../../domain/deploys/image-command.ts';
import type { ImageSource, UnpackedImage } from '../../../../domain/deploys/image-source.ts';
import { Failure } from '../../../../domain/failure.ts';
import { argvText } from '../../../../lib/argv-text.ts';
import { removeTree } from '../../../../lib/remove-tree.ts';
import { isLargerThan, seal } from '../cache/copy-tree.ts';
import type { RunningBuild } from '../running-build.ts';
import { bringBases, rewritten } from './bases.ts';
import { Buildah, type ImagePlaces } from './buildah.ts';
import { buildByDaemon } from './daemon-build.ts';

/** What steps have made is kept for the next build, until it is more than this. */
const MAX_STORE = 10 * 1024 ** 3;

interface ImageBuild {
  readonly build: RunningBuild;
  readonly image: ImageRecipe;
  readonly images: Pick<ImageSource, 'copy' | 'unpack'>;
}

type BuiltImage = Pick<Artifact, 'processes'> & Pick<UnpackedImage, 'healthCheck' | 'liveness'>;

/** Throws Failure `toolchain_missing`, which says what this machine lacks, before anything is fetched. */
export function demandImages({ context }: Pick<RunningBuild, 'context'>): Pick<ImageSource, 'copy' | 'unpack'> {
  const { images, sandbox } = context;
  if (images !== null && sandbox.roots && (sandbox.manyUsers || context.imageClient !== null)) return images;
  throw new Failure(
    'toolchain_missing',
    `This server cannot build images: that takes root and bubblewrap, and it has ${sandbox.description}.`,
    {
      hint: 'Ask the operator to install the package "bubblewrap" and to run the server as root; or build the image elsewhere: tancho deploy --image',
    },
  );
}

/** The slug is finished when it resolves. */
export async function buildImage({ build, image, images }: ImageBuild): Promise<BuiltImage> {
  const { context, request, place, output, signal } = build;
  const temporary = join(context.cache, request.app, `build-${request.deployId}`);
  const places: ImagePlaces = {
    context: place.code,
    bases: join(temporary, 'bases'),
    settings: join(temporary, 'settings'),
    out: join(temporary, 'out'),
    temporary: join(temporary, 'tmp'),
    store: join(context.cache, request.app, 'containers'),
  };
  try {
    if (await isLargerThan(places.store, MAX_STORE)) await removeTree(places.store);
    for (const path of [places.bases, places.settings]) await mkdir(path, { recursive: true, mode: 0o755 });
    for (const path of [places.out, places.temporary, places.store]) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await context.sandbox.own(path, request.app);
    }
    const args = argumentsOf(image, request.env);
    if (context.imageClient === null) await buildByBuildah({ build, image, images }, places, args);
    else await buildByDaemon(build, context.imageClient, places, { file: image.file, target: image.target, args });
    const root = join(place.directory, 'root');
    await mkdir(root, { mode: 0o700 });
    const unpacked = await images.unpack({ directory: places.out, root }, (text) => output.say(text), signal);
    if (context.keepsImages) {
      // Nobody of the app's writes there any more.
      await seal(places.out);
      await rename(places.out, join(place.directory, PACKED_IMAGE));
    }
    return await finish(build, image, root, unpacked);
  } finally {
    await removeTree(temporary);
  }
}

async function buildByBuildah(
  { build, image, images }: ImageBuild,
  places: ImagePlaces,
  args: Readonly<Record<string, string>>,
): Promise<void> {
  const { request, output, signal } = build;
  const needed = neededImages(image.recipe, image.target, args);
  const bases = await bringBases({
    images,
    needed,
    logins: request.registryLogins ?? new Map(),
    directory: places.bases,
    file: image.file,
    output,
    signal,
  });
  const text = (await build.files.text(image.file)) ?? '';
  const buildah = await Buildah.open(build, places, rewritten(text, image.recipe, bases, args));
  for (const base of bases) await buildah.addBase(base);
  await buildah.build({ target: image.target, args, bases });
  await buildah.save();
}

/** Variables of the app come before what its file says; only those that the Dockerfile asks for are given. */
function argumentsOf({ args, recipe }: ImageRecipe, env: Readonly<Record<string, string>>): Record<string, string> {
  const asked = recipe.args.filter((name) => Object.hasOwn(env, name));
  return { ...args, ...Object.fromEntries(asked.map((name) => [name, env[name] ?? ''])) };
}

async function finish(
  build: RunningBuild,
  recipe: ImageRecipe,
  root: string,
  made: UnpackedImage,
): Promise<BuiltImage> {
  const { context, place, plan } = build;
  const { argv, env, image, healthCheck, liveness } = made;
  const entries = Object.entries(plan.processes).map(([name, { command }]) => [
    name,
    recipe.ownCommand ? argvText(argv) : imageCommand(name, command, image.programs),
  ]);
  await removeTree(place.code);
  await rename(root, place.code);
  await context.artifacts.put(place, { format: 1, platform: plan.platform, path: [], env, binds: [], image });
  return { processes: Object.fromEntries(entries) as Record<string, string>, healthCheck, liveness };
}
