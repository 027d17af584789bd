/** Next steps of Dockerfiles; REGISTRY is one of this machine, with an image that serves. */
import type { HintRow } from './hint-row.ts';

const page = 'mended';
const DOCKERFILE = 'build-plan/languages/dockerfile/dockerfile.ts';
const BASE = 'FROM REGISTRY/serving:1\n';

export const DOCKERFILE_ROWS: Readonly<Record<string, HintRow>> = {
  'a Dockerfile without FROM': {
    from: DOCKERFILE,
    cause: 'invalid_config',
    needs: ['images'],
    files: { Dockerfile: 'RUN true\n' },
    hint: 'Begin Dockerfile with FROM <image> or FROM scratch and push again.',
    follow: [{ edit: { Dockerfile: BASE } }],
    page,
  },
  'a FROM of two images': {
    from: DOCKERFILE,
    cause: 'invalid_config',
    needs: ['images'],
    files: { Dockerfile: 'FROM a b\n' },
    hint: 'Write FROM <image> or FROM <image> AS <name> there and push again.',
    follow: [{ edit: { Dockerfile: BASE.replace('\n', ' AS base\n') } }],
    page,
  },
  'what is no name of an image': {
    from: DOCKERFILE,
    cause: 'invalid_config',
    needs: ['images'],
    files: { Dockerfile: 'FROM not:an:image\n' },
    hint: 'Write it as registry.example.com/team/app:tag in Dockerfile and push again.',
    follow: [{ edit: { Dockerfile: BASE } }],
    page,
  },
  'a here-document': {
    from: DOCKERFILE,
    cause: 'invalid_config',
    needs: ['images'],
    files: { Dockerfile: `${BASE}RUN <<EOF\ntrue\nEOF\n` },
    hint: 'Put it into a file and COPY that, or write it as one RUN with && between the commands; then push again.',
    follow: [{ edit: { Dockerfile: `${BASE}RUN ["/busybox", "true"]\n` } }],
    page,
  },
  'a stage that is not there': {
    from: DOCKERFILE,
    cause: 'invalid_config',
    needs: ['images'],
    files: { Dockerfile: `${BASE.replace('\n', ' AS base\n')}`, 'tancho.yaml': 'dockerfile: { target: other }\n' },
    platform: 'dockerfile',
    hint: 'Name another one as dockerfile.target in tancho.yaml and push again; its stages are: base.',
    follow: [{ edit: { 'tancho.yaml': 'dockerfile: { target: base }\n' } }],
    page,
  },
  'a Dockerfile that is not there': {
    from: DOCKERFILE,
    cause: 'invalid_config',
    needs: ['images'],
    files: { 'deploy/Dockerfile': BASE, 'tancho.yaml': 'dockerfile: { file: Dockerfile.prod }\n' },
    platform: 'dockerfile',
    hint: 'Name the one there is in tancho.yaml: dockerfile: { file: deploy/Dockerfile }   and push again.',
    follow: [{ edit: { 'tancho.yaml': 'dockerfile: { file: deploy/Dockerfile }\n' } }],
    page,
  },
  'arguments that are none': {
    from: DOCKERFILE,
    cause: 'invalid_config',
    needs: ['images'],
    files: { Dockerfile: BASE, 'tancho.yaml': 'dockerfile: { args: small }\n' },
    platform: 'dockerfile',
    hint: 'Write for example args: VERSION=2 MODE=small in the section dockerfile of tancho.yaml and push again.',
    follow: [{ edit: { 'tancho.yaml': 'dockerfile: { args: VERSION=2 MODE=small }\n' } }],
    page,
  },
  'a server that builds no images': {
    from: 'backends/builder/platform/image-build/build-image.ts',
    cause: 'toolchain_missing',
    needs: ['images'],
    env: { TANCHO_ISOLATION: 'user' },
    files: { Dockerfile: BASE },
    hint: 'Ask the operator to install the package "bubblewrap" and to run the server as root; or build the image elsewhere: tancho deploy --image',
    follow: [{ operator: { TANCHO_ISOLATION: 'bubblewrap' } }],
    page,
  },
  'an image whose name has a variable without a value': {
    from: 'backends/builder/platform/image-build/bases.ts',
    cause: 'invalid_config',
    needs: ['images'],
    files: { Dockerfile: 'ARG WHAT\nFROM REGISTRY/$WHAT:1\n' },
    hint: 'Give its variables values: ARG NAME=value before FROM, dockerfile.args in tancho.yaml, or tancho env set; then push again.',
    follow: [{ edit: { Dockerfile: 'ARG WHAT=serving\nFROM REGISTRY/$WHAT:1\n' } }],
    page,
  },
};
