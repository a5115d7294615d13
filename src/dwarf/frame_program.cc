#include "dwarf/frame_program.h"

namespace dwarf {

// Rules that are put aside while others hold; compilers nest them once.
static constexpr size_t most_remembered = 64;

std::optional<FrameRow> FrameProgram::run_initial(const FrameCie& cie) {
  cie_ = &cie;
  reader_ = base::Reader(cie.program);
  size_ = cie.program.size();
  end_ = UINT64_MAX;
  next_ = 0;
  remembered_.clear();
  row_ = {};
  row_.is_signal = cie.is_signal;
  row_.address_size = cie.address_size;
  row_.return_register = cie.return_register;
  while (reader_.at() < size_)
    if (!step() || !reader_.ok()) return std::nullopt;
  return row_;
}

void FrameProgram::start(const FrameFde& fde) {
  cie_ = fde.cie;
  reader_ = base::Reader(fde.program);
  size_ = fde.program.size();
  remembered_.clear();
  row_ = *fde.cie->initial;
  row_.end = next_ = fde.begin;
  end_ = fde.end;
  is_damaged_ = false;
}

bool FrameProgram::next() {
  row_.begin = row_.end;
  if (is_damaged_ || row_.begin >= end_) return false;
  // What came before belongs to the row that begins here; the next advance ends it.
  while (next_ <= row_.begin && reader_.at() < size_)
    if (!step() || !reader_.ok()) return is_damaged_ = true, false;
  row_.end = next_ > row_.begin && next_ < end_ ? next_ : end_;
  return true;
}

bool FrameProgram::move_to(uint64_t address) {
  if (address < next_) return false;
  next_ = address;
  return true;
}

bool FrameProgram::advance(uint64_t units) {
  uint64_t bytes = 0, to = 0;
  return !__builtin_mul_overflow(units, cie_->code_factor, &bytes) &&
         !__builtin_add_overflow(next_, bytes, &to) && move_to(to);
}

void FrameProgram::set(uint64_t reg, RegisterRule::Kind kind, int64_t offset) {
  if (reg >= FrameRow::registers) return;
  RegisterRule& rule = row_.rules[reg];
  rule.kind = kind;
  rule.size = 0;
  rule.offset = offset;
}

void FrameProgram::set_expression(uint64_t reg, RegisterRule::Kind kind) {
  ByteSpan bytes = reader_.bytes(reader_.uleb128());
  if (reg >= FrameRow::registers) return;
  RegisterRule& rule = row_.rules[reg];
  rule.kind = kind;
  rule.size = static_cast<uint32_t>(bytes.size());
  rule.expression = bytes.data();
}

void FrameProgram::restore(uint64_t reg) {
  if (reg < FrameRow::registers) row_.rules[reg] = cie_->initial ? cie_->initial->rules[reg] : RegisterRule();
}

void FrameProgram::set_cfa(uint64_t reg, int64_t offset) {
  row_.cfa = {.reg = reg, .offset = offset};
  row_.has_cfa = true;
}

bool FrameProgram::step() {
  auto code = reader_.number<uint8_t>();
  uint64_t low = code & 63;
  switch (code >> 6) {
  case 1: return advance(low); // advance_loc
  case 2:                      // offset
    set(low, RegisterRule::at_offset, factored(static_cast<int64_t>(reader_.uleb128())));
    return true;
  case 3: restore(low); return true;
  }
  switch (code) {
  case 0x00: // nop
  case 0x2d: // of arm64: the return address is signed from here on
    return true;
  case 0x01: { // set_loc
    auto to = read_frame_address(table_, reader_, cie_->encoding, cie_->address_size);
    return to && move_to(*to);
  }
  case 0x02: return advance(reader_.number<uint8_t>());
  case 0x03: return advance(reader_.number<uint16_t>());
  case 0x04: return advance(reader_.number<uint32_t>());
  case 0x1d: return advance(reader_.number<uint64_t>()); // of MIPS: advance_loc8
  case 0x0a:                                             // remember_state
    if (remembered_.size() >= most_remembered) return false;
    remembered_.push_back(row_);
    return true;
  case 0x0b: { // restore_state
    if (remembered_.empty()) return false;
    uint64_t begin = row_.begin, end = row_.end;
    row_ = remembered_.back();
    row_.begin = begin, row_.end = end;
    remembered_.pop_back();
    return true;
  }
  case 0x2e: reader_.uleb128(); return true; // GNU_args_size
  }
  return step_extended(code);
}

bool FrameProgram::step_extended(uint8_t code) {
  if (code >= 0x0c && code <= 0x13 && code != 0x10 && code != 0x11) return step_of_cfa(code);
  uint64_t reg = reader_.uleb128();
  switch (code) {
  case 0x05: // offset_extended
    set(reg, RegisterRule::at_offset, factored(static_cast<int64_t>(reader_.uleb128())));
    return true;
  case 0x06: restore(reg); return true; // restore_extended
  case 0x07: set(reg, RegisterRule::undefined, 0); return true;
  case 0x08: set(reg, RegisterRule::same, 0); return true;
  case 0x09: set(reg, RegisterRule::in_register, static_cast<int64_t>(reader_.uleb128())); return true;
  case 0x10: set_expression(reg, RegisterRule::at_expression); return true;
  case 0x11: // offset_extended_sf
    set(reg, RegisterRule::at_offset, factored(reader_.sleb128()));
    return true;
  case 0x14: // val_offset
    set(reg, RegisterRule::is_offset, factored(static_cast<int64_t>(reader_.uleb128())));
    return true;
  case 0x15: set(reg, RegisterRule::is_offset, factored(reader_.sleb128())); return true;
  case 0x16: set_expression(reg, RegisterRule::is_expression); return true;
  case 0x2f: // GNU_negative_offset_extended
    set(reg, RegisterRule::at_offset, factored(static_cast<int64_t>(-reader_.uleb128())));
    return true;
  }
  return false;
}

bool FrameProgram::step_of_cfa(uint8_t code) {
  uint64_t reg;
  switch (code) {
  case 0x0c: // def_cfa
    reg = reader_.uleb128();
    set_cfa(reg, static_cast<int64_t>(reader_.uleb128()));
    return true;
  case 0x12: // def_cfa_sf
    reg = reader_.uleb128();
    set_cfa(reg, factored(reader_.sleb128()));
    return true;
  case 0x0f: // def_cfa_expression
    row_.cfa = {.is_expression = true, .expression = reader_.bytes(reader_.uleb128())};
    row_.has_cfa = true;
    return true;
  }
  // The others change one half of what is there.
  if (!row_.has_cfa || row_.cfa.is_expression) return false;
  switch (code) {
  case 0x0d: row_.cfa.reg = reader_.uleb128(); return true;
  case 0x0e: row_.cfa.offset = static_cast<int64_t>(reader_.uleb128()); return true;
  case 0x13: row_.cfa.offset = factored(reader_.sleb128()); return true;
  }
  return false;
}

} // namespace dwarf
