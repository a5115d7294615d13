// Runs the instructions of CIEs and FDEs, which change what holds from one address on to the next.
// Specification: DWARF 5, section 6.4.2; GNU's and the LSB's additions.
#pragma once

#include "dwarf/frame_entries.h"

#include <vector>

namespace dwarf {

class FrameProgram {
public:
  explicit FrameProgram(const FrameTable& table) : table_(table) {}

  // What a CIE says before the first instruction of any FDE; nothing: damaged.
  std::optional<FrameRow> run_initial(const FrameCie& cie);
  // Begins with an FDE; its CIE has `initial`.
  void start(const FrameFde& fde);
  // The next row: false when there is none up to the end of the FDE, or it is_damaged() from where the last
  // one ended.
  bool next();
  const FrameRow& row() const { return row_; }
  bool is_damaged() const { return is_damaged_; }
  // Up to which address rows were made.
  uint64_t reached() const { return row_.end; }

private:
  bool step();
  bool step_extended(uint8_t code);
  bool step_of_cfa(uint8_t code);
  bool advance(uint64_t units);
  bool move_to(uint64_t address);
  void set(uint64_t reg, RegisterRule::Kind kind, int64_t offset);
  void set_expression(uint64_t reg, RegisterRule::Kind kind);
  void restore(uint64_t reg);
  void set_cfa(uint64_t reg, int64_t offset);
  int64_t factored(int64_t value) const {
    return static_cast<int64_t>(static_cast<uint64_t>(value) * static_cast<uint64_t>(cie_->data_factor));
  }

  FrameTable table_;
  const FrameCie* cie_ = nullptr;
  base::Reader reader_{{}};
  uint64_t size_ = 0;           // of the instructions
  uint64_t end_ = 0, next_ = 0; // of the FDE's code; the address that the instructions have come to
  bool is_damaged_ = false;
  FrameRow row_;
  std::vector<FrameRow> remembered_;
};

} // namespace dwarf
