/** The settings of images and of the registries that they are in; part of the table in schema.ts. */
import { absolutePathOrNone } from './acme-parsers.ts';
import { imageBases, imageBuilder, imagePlaceOrNone } from './image-parsers.ts';
import * as parse from './parsers.ts';

export const IMAGE_SETTINGS = {
  registries: {
    key: 'registries',
    variable: 'TANCHO_REGISTRIES',
    default: '',
    description:
      'Users and passwords for registries of images, as host=user:password with commas between them, or in the file one line "host: user:password" each below "registries:". Whoever may deploy an app may pull what they can read. The rules of providers.allow hold for registries, too.',
    isMap: true,
    secret: true,
    parse: parse.registryLogins,
  },
  insecureRegistries: {
    key: 'images.insecure-registries',
    variable: 'TANCHO_IMAGES_INSECURE_REGISTRIES',
    default: '',
    description:
      'Registries without TLS that are sent our logins all the same, as images name them, with commas between them, for example localhost:5000. Their passwords and images can be read and changed by whoever is on the way. Any other one without TLS, which must be at a private address, is asked as nobody in particular.',
    parse: parse.registryHosts,
  },
  imageRegistry: {
    key: 'images.registry',
    variable: 'TANCHO_IMAGES_REGISTRY',
    default: '',
    description:
      'Where artifacts are pushed as images for engines on other machines, which pull them there: a host and a path, below which each app has a repository, for example registry.example.com/apps. The login is that of "registries". None: engines on other machines cannot be used.',
    parse: imagePlaceOrNone,
  },
  imageBuilder: {
    key: 'images.builder',
    variable: 'TANCHO_IMAGES_BUILDER',
    default: 'buildah',
    description:
      'What builds images from Dockerfiles: buildah, which needs no daemon and is held within the sandbox of builds; docker, by the daemon that the docker of this server asks; or the address of a BuildKit, as unix:///run/buildkit/buildkitd.sock or tcp://buildkit.example.com:1234. What the steps of a build may do and reach is what these daemons let them.',
    parse: imageBuilder,
  },
  imageBases: {
    key: 'images.base',
    variable: 'TANCHO_IMAGES_BASE',
    default: '',
    description:
      'Images that code is built on and runs on, here and elsewhere, as platform=image with commas between them, or in the file one line "platform: image" each below "base:"; * stands for all platforms that are not named, for example *=docker.io/library/debian:12. None: code is built with the programs of this machine, and runs here only.',
    isMap: true,
    parse: imageBases,
  },
  imageRoots: {
    key: 'images.roots',
    variable: 'TANCHO_IMAGES_ROOTS',
    default: '',
    description:
      'File with roots (PEM) by which registries are trusted, beside those that everybody trusts, for a certificate authority of your own.',
    parse: absolutePathOrNone,
  },
} as const;
