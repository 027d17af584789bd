import { expect, it } from 'vitest';
import { Type } from '../schema.ts';
import { standingList } from '../shapes/shape.ts';
import { serializedList } from './serialize.ts';

interface Member {
  readonly name: string;
}

it('of a list only the pieces are written anew that have other members, or another place', () => {
  const { pieces } = standingList(Type.Object({ name: Type.String() }), (member: Member) => member);
  if (pieces === undefined) throw new Error('it has no pieces');
  const write = (members: readonly Member[]): readonly Buffer[] => {
    const list = serializedList(pieces, members);
    expect(JSON.parse(Buffer.concat(list).toString())).toEqual(members);
    return list;
  };
  const members: readonly Member[] = Array.from({ length: 100 }, (_, at) => ({ name: `app ${at}` }));
  const changed = members.with(50, { name: 'another' });
  const [first, second, third] = [write(members), write(changed), write(changed.slice(0, -1))];
  expect(second.filter((bytes, at) => bytes !== first[at])).toHaveLength(1);
  expect(third.filter((bytes, at) => bytes !== second[at])).toHaveLength(1);
  for (const some of [members.slice(16), members.slice(1), members.slice(0, 1), [], members]) write(some);
});
