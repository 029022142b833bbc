//! How the original leads to the copy.
//!
//! An entry becomes a `jmp rel32`. Where that does not fit, it becomes a `jmp rel8` to an *island*: five
//! dead bytes nearby, from which another jump leads on; or the call that follows is moved, too, to make
//! room. Code up to the next call or return that records nothing may stay as it is. What is left is a
//! trap.

use super::assembler::Target;
use super::blocks::{Call, Copier, direct_target};
use super::flow::{Mark, decoder};
use crate::stub::JUMP_SIZE;
use crate::{Patch, PlanError};
use iced_x86::{Code, Instruction, Mnemonic, OpKind, Register};
use std::ops::Range;

const RETURN: u8 = 0xc3;
const TRAP: u8 = 0xcc;

/// What becomes of a function in the original.
struct Body {
    start: u64,
    /// The new bytes; traps, unless they are taken.
    bytes: Vec<u8>,
    taken: Vec<bool>,
}

impl Body {
    fn set(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.taken[at..at + bytes.len()].fill(true);
    }

    fn free(&mut self, range: Range<usize>) {
        self.bytes[range.clone()].fill(TRAP);
        self.taken[range].fill(false);
    }
}

impl Copier<'_> {
    /// What is written over the originals of all functions that were copied.
    pub(super) fn lead_into_copies(&mut self) -> Result<Vec<Patch>, PlanError> {
        self.calls.sort_by_key(|call| call.instruction.ip());
        let functions = self.flow.copied.clone();
        let mut patches = Vec::with_capacity(functions.len());
        for (index, function) in functions.iter().enumerate() {
            let next = functions.get(index + 1).map(|next| next.start);
            let Some(original) = self.image.code_of(function) else { continue };
            let end = self.end_of_padding(function, next);
            let size = (end - function.start) as usize;
            let mut body =
                Body { start: function.start, bytes: vec![TRAP; size], taken: vec![false; size] };
            let calls = self.calls_in(function);
            for call in &calls {
                let at = (call.instruction.ip() - function.start) as usize;
                body.set(at, &original[at..at + call.instruction.len()]);
            }
            let short = self.long_entries(function, original, &mut body)?;
            for entry in short {
                self.short_entry(entry, original, &mut body, &calls)?;
            }
            let address = function.start.wrapping_add(self.layout.base);
            patches.push(Patch { address, bytes: body.bytes, trap: None });
        }
        Ok(patches)
    }

    fn calls_in(&self, function: &Range<u64>) -> Vec<Call> {
        let first = self.calls.partition_point(|call| call.instruction.ip() < function.start);
        let calls = self.calls[first..].iter();
        calls.take_while(|call| call.instruction.ip() < function.end).copied().collect()
    }

    /// Padding behind a function is room for islands.
    fn end_of_padding(&self, function: &Range<u64>, next: Option<u64>) -> u64 {
        let Some(next) = next.filter(|&next| next > function.end) else { return function.end };
        let is_padding = self.image.code_of(&(function.end..next)).is_some_and(|bytes| {
            decoder(bytes, function.end)
                .into_iter()
                .all(|gap| matches!(gap.mnemonic(), Mnemonic::Nop | Mnemonic::Int3))
        });
        let is_entered = |address| {
            self.flow.at(address).has(Mark::ENTRY) || self.flow.at(address).has(Mark::LEADER)
        };
        match is_padding && !(function.end..next).any(is_entered) {
            true => next,
            false => function.end,
        }
    }

    /// Writes the entries that a jump fits into, and leaves what records nothing as it is; returns the
    /// others, with the room that they have.
    fn long_entries(
        &self,
        function: &Range<u64>,
        original: &[u8],
        body: &mut Body,
    ) -> Result<Vec<(u64, usize)>, PlanError> {
        let mut short = Vec::new();
        for entry in function.clone().filter(|&address| self.flow.is_entry(address)) {
            let at = (entry - function.start) as usize;
            if self.flow.at(entry).has(Mark::CALL) && !self.is_seen(entry) {
                continue;
            }
            if let Some(length) = self.runs_unseen(entry, function.end, &original[at..]) {
                let fits = (at..at + length)
                    .all(|byte| !body.taken[byte] || body.bytes[byte] == original[byte]);
                if fits {
                    body.set(at, &original[at..at + length]);
                    continue;
                }
            }
            let room = self.room(entry, body);
            if room >= JUMP_SIZE {
                self.write_jump(body, at, entry)?;
            } else {
                short.push((entry, room));
            }
        }
        Ok(short)
    }

    /// How many bytes from an entry on are free, up to the next.
    fn room(&self, entry: u64, body: &Body) -> usize {
        let at = (entry - body.start) as usize;
        let mut room = 0;
        while at + room < body.bytes.len()
            && !body.taken[at + room]
            && (room == 0 || !self.flow.is_entry(entry + room as u64))
        {
            room += 1;
        }
        room
    }

    /// A jump to the copy of `entry`.
    fn write_jump(&self, body: &mut Body, at: usize, entry: u64) -> Result<(), PlanError> {
        let copy = self.copy_of(entry).ok_or_else(|| self.too_far(entry))?;
        let from = (body.start + (at + JUMP_SIZE) as u64).wrapping_add(self.layout.base);
        let to = self.layout.copies + u64::from(copy);
        let distance = i32::try_from(to.wrapping_sub(from).cast_signed());
        let distance = distance.map_err(|_| self.too_far(entry))?;
        let [a, b, c, d] = distance.to_le_bytes();
        body.set(at, &[0xe9, a, b, c, d]);
        Ok(())
    }

    /// An entry with too little room for a jump.
    fn short_entry(
        &mut self,
        (entry, mut room): (u64, usize),
        original: &[u8],
        body: &mut Body,
        calls: &[Call],
    ) -> Result<(), PlanError> {
        let at = (entry - body.start) as usize;
        if room >= 2 && self.write_island(body, at, entry, room)? {
            return Ok(());
        }
        let is_plain =
            self.flow.at(entry).has(Mark::PLAIN) && self.flow.at(entry + 1).has(Mark::START);
        if room == 1 && (is_plain && !self.is_point(entry) || original[at] == RETURN) {
            body.set(at, &original[at..at + 1]);
            return Ok(());
        }
        // Move the call behind it as well.
        let behind = entry + room as u64;
        let call = calls.iter().find(|call| call.instruction.ip() == behind);
        if let Some(call) = call.filter(|_| room == 0 || !self.flow.is_entry(behind)) {
            let call_at = at + room;
            if self.move_call(call)? {
                body.free(call_at..call_at + call.instruction.len());
                room += call.instruction.len();
                if room >= JUMP_SIZE {
                    return self.write_jump(body, at, entry);
                }
                if room >= 2 && self.write_island(body, at, entry, room)? {
                    return Ok(());
                }
            }
        }
        body.set(at, &[TRAP]);
        Ok(())
    }

    /// A jump to five dead bytes within reach, and from there to the copy.
    fn write_island(
        &self,
        body: &mut Body,
        at: usize,
        entry: u64,
        room: usize,
    ) -> Result<bool, PlanError> {
        let from = at + 2;
        let nearest = from.saturating_sub(128);
        let furthest = (from + 127).min(body.bytes.len().saturating_sub(JUMP_SIZE));
        let is_free = |island: &usize| {
            (*island >= at + room || island + JUMP_SIZE <= at)
                && (*island..island + JUMP_SIZE)
                    .all(|byte| !body.taken[byte] && !self.flow.is_entry(body.start + byte as u64))
        };
        let Some(island) = (nearest..=furthest).find(is_free) else { return Ok(false) };
        self.write_jump(body, island, entry)?;
        let distance = island as i64 - from as i64;
        body.set(at, &[0xeb, distance as i8 as u8]);
        Ok(true)
    }

    fn is_seen(&self, call: u64) -> bool {
        let found = self.calls.binary_search_by_key(&call, |call| call.instruction.ip());
        found.is_ok_and(|index| self.calls[index].is_seen)
    }

    /// Whether nothing from here to the next call or return needs to be seen: how many bytes.
    fn runs_unseen(&self, start: u64, end: u64, original: &[u8]) -> Option<usize> {
        let mut address = start;
        loop {
            let mark = self.flow.at(address);
            if address >= end || self.is_point(address) {
                return None;
            }
            let length = (address - start) as usize;
            if mark.has(Mark::CALL) {
                return (!self.is_seen(address)).then_some(length);
            }
            if original[length] == RETURN {
                return Some(length + 1);
            }
            if !mark.has(Mark::PLAIN) {
                return None;
            }
            address += 1;
            while address < end && !self.flow.at(address).has(Mark::START) {
                address += 1;
            }
        }
    }

    /// Makes the copy push a call's return address and jump to its target, so that the original is not
    /// needed.
    fn move_call(&mut self, call: &Call) -> Result<bool, PlanError> {
        let return_address = call.instruction.next_ip().wrapping_add(self.layout.base);
        let here = self.code.bytes.len() as u32;
        self.code.fixes[call.fix].target = Target::Here(here);
        self.out.origins.push((here, call.instruction.ip()));
        self.code.emit(&[0x48, 0x8d, 0x64, 0x24, 0xf8]); // lea rsp, [rsp-8]
        self.code.emit(&[0xc7, 0x04, 0x24]); // mov dword [rsp], …
        self.code.emit(&(return_address as u32).to_le_bytes());
        self.code.emit(&[0xc7, 0x44, 0x24, 0x04]); // mov dword [rsp+4], …
        self.code.emit(&((return_address >> 32) as u32).to_le_bytes());
        if let Some(target) = direct_target(call) {
            self.code.jump(&[0xe9], Target::Original(target));
            return Ok(true);
        }
        let jump = self.jump_of(&call.instruction);
        self.code.encode(&jump).map_err(|error| self.immovable(call.instruction.ip(), &error))?;
        Ok(true)
    }

    /// The jump that an indirect call becomes once its return address is pushed.
    fn jump_of(&self, call: &Instruction) -> Instruction {
        let mut jump = *call;
        jump.set_code(Code::Jmp_rm64);
        if call.op0_kind() == OpKind::Memory {
            let mut displacement = call.memory_displacement64();
            if call.is_ip_rel_memory_operand() {
                displacement = displacement.wrapping_add(self.layout.base);
            }
            if call.memory_base() == Register::RSP {
                displacement = displacement.wrapping_add(8);
                jump.set_memory_displ_size(4);
            }
            jump.set_memory_displacement64(displacement);
        }
        jump
    }
}
