import { Type } from '../schema.ts';
import type { PlatformView } from '../../domain/platforms/platforms.ts';
import { shape } from './shape.ts';

const published = { Name: Type.String() };
const extra = {
  Description: Type.String(),
  Ready: Type.Boolean(),
  Tools: Type.Array(Type.String()),
  Missing: Type.Array(Type.String()),
  Disabled: Type.Boolean(),
  Added: Type.Boolean(),
};

function toWire(platforms: readonly PlatformView[]) {
  return platforms.map((platform) => ({
    Name: platform.name,
    Description: platform.description,
    Ready: platform.ready,
    Tools: [...platform.tools],
    Missing: [...platform.missing],
    Disabled: platform.isDisabled,
    Added: platform.isAdded,
  }));
}

export const platforms = shape(Type.Array(Type.Object(published)), toWire);
export const platformsUnion = shape(Type.Array(Type.Object({ ...published, ...extra })), toWire);
