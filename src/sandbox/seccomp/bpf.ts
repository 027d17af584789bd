/** Pure: programs for the kernel's packet filter machine, in the form in which seccomp takes them. */

/** One instruction: what it does, how many to skip when it holds and when not, and its operand. */
export interface BpfInstruction {
  readonly code: number;
  readonly ifTrue: number;
  readonly ifFalse: number;
  readonly operand: number;
}

const LOAD_WORD = 0x20;
const JUMP = 0x05;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Offsets in what a filter gets to know of a system call (struct seccomp_data). */
export const NUMBER_AT = 0;
export const PROCESSOR_AT = 4;
/** The lower half of the first argument, on little-endian machines. */
export const FIRST_ARGUMENT_AT = 16;
/** The same of the second. */
export const SECOND_ARGUMENT_AT = 24;

const INSTRUCTION_BYTES = 8;

function instruction(code: number, operand: number, ifTrue = 0, ifFalse = 0): BpfInstruction {
  return { code, ifTrue, ifFalse, operand };
}

export const load = (offset: number): BpfInstruction => instruction(LOAD_WORD, offset);
export const give = (verdict: number): BpfInstruction => instruction(RETURN, verdict);
export const skip = (count: number): BpfInstruction => instruction(JUMP, count);
/** Each goes on with the next instruction when it holds, and skips that when not. */
export const whenEqual = (value: number): BpfInstruction => instruction(JUMP_IF_EQUAL, value, 0, 1);
export const whenAtLeast = (value: number): BpfInstruction => instruction(JUMP_IF_AT_LEAST, value, 0, 1);
export const whenAnyBit = (mask: number): BpfInstruction => instruction(JUMP_IF_ANY_BIT, mask, 0, 1);

/** As the kernel reads it, little-endian. */
export function assemble(program: readonly BpfInstruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  program.forEach(({ code, ifTrue, ifFalse, operand }, index) => {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(ifTrue, at + 2);
    bytes.writeUInt8(ifFalse, at + 3);
    bytes.writeUInt32LE(operand >>> 0, at + 4);
  });
  return bytes;
}
