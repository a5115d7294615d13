// Text and bytes, searched and compared.
//
// What goes byte by byte is a loop that is called back: the kernel's verifier would follow any other turn by
// turn, and all that comes behind it once for each. Loops reach objects only, so text is copied into one
// first; where it ends is seen by its NUL.
#include "ir/lowering.h"

#include <algorithm>
#include <bit>

namespace ir {

using namespace lang;

// Turns of a loop that is called back (BPF_MAX_LOOPS of the kernel).
static constexpr int64_t most_turns = 1 << 23;
// Bytes that are compared word by word in straight code.
static constexpr uint32_t largest_straight = 2048;

// The value in an object of its own, with no undefined byte.
uint32_t Lowering::object_of(const Expr& e, const Type& as) {
  uint32_t index = add_object(as.size, "value");
  Place p{Space::script, object(index), 0};
  if (as.size % 8) zero(p.plus(as.size / 8 * 8), 8);
  into(e, p, as);
  return index;
}

// A copy that ends in two NULs, whether the text was cut or not.
Lowering::Text Lowering::text(const Expr& e) {
  constexpr uint32_t nuls = 2;
  if (e.constant.kind == Constant::text) {
    std::string_view value = c_text_of(e);
    auto size = static_cast<uint32_t>(value.size()) + nuls;
    uint32_t index = add_object(size, "text");
    put_text({Space::script, object(index), 0}, value, size);
    return {index, size};
  }
  uint32_t size = e.type->size - 1 + nuls;
  uint32_t index = add_object(size, "text");
  Place p{Space::script, object(index), 0};
  if (size % 8) zero(p.plus(size / 8 * 8), 8);
  into(e, p, *e.type);
  for (uint32_t n = 1; n <= nuls; n++) store(p.plus(size - n), number(0), 1);
  return {index, size};
}

// The byte at an index. Loops end by the NUL: `outside` is a way for the verifier only, who does not know of
// it. It should end there, for each way that goes on would be followed with all that comes behind.
Operand Lowering::byte_of(const Text& t, Operand index, BlockId outside) {
  BlockId inside = new_block();
  branch(Cond::ult, index, number(t.size), inside, outside);
  start(inside);
  return load_word({Space::script, emit(Op::add, object(t.object), index), 0}, 1, false);
}

// Runs `turn` until it gives back 1, at most `turns` times; what it stored as the result, or -1.
Operand Lowering::search(int64_t turns, const std::function<void(Operand turn, const Place& result)>& turn) {
  if (turns <= 0) return number(-1);
  turns = std::min(turns, most_turns);
  uint32_t found = add_object(8, "found");
  store({Space::script, object(found), 0}, number(-1), 8);
  body(
      1,
      [&] {
        turn(Operand::of(1), {Space::script, object(found), 0});
      },
      [&](uint32_t made) {
        uint32_t never = site(Fault::loop_limit);
        append(
            {.op = Op::loop, .dst = fresh(), .a = number(turns), .imm = turns, .imm2 = never, .index = made});
      });
  // The verifier of Linux 6.1 takes what it first saw the loop store for all that it can store.
  return emit(Op::blur, load_word({Space::script, object(found), 0}, 8, true));
}

// Ends a turn of `search` that found something, and the two ways of those that did not: to stop and to go on.
void Lowering::end_turn(const Place& result, Operand found, BlockId stop, BlockId next) {
  store(result, found, 8);
  jump(stop);
  start(stop);
  give_back(number(1));
  start(next);
  give_back(number(0));
}

// 1 for what comes by one block, 0 for what comes by the other.
Operand Lowering::truth(BlockId yes, BlockId no) {
  Reg dst = fresh();
  BlockId after = new_block();
  start(yes);
  assign(dst, number(1));
  jump(after);
  start(no);
  assign(dst, number(0));
  jump(after);
  start(after);
  return Operand::of(dst);
}

// -------------------------------------------------------------------------------------------- equality

// Whether `size` bytes of two objects are the same: 1 or 0.
Operand Lowering::equal_bytes(uint32_t a, uint32_t b, uint32_t size) {
  constexpr uint32_t piece = 64;
  auto same = [&](Operand at_a, Operand at_b, uint32_t bytes) {
    Reg dst = fresh();
    append({.op = Op::equal, .dst = dst, .a = at_a, .b = at_b, .imm2 = bytes});
    return Operand::of(dst);
  };
  if (size == 0) return number(1);
  if (size <= largest_straight) return same(object(a), object(b), size);
  int64_t turns = size / piece;
  Operand differs = search(turns, [&](Operand turn, const Place& result) {
    BlockId inside = new_block(), next = new_block(), differ = new_block();
    branch(Cond::ult, turn, number(turns), inside, next);
    start(inside);
    Operand at = emit(Op::mul, turn, number(piece));
    Operand equal = same(emit(Op::add, object(a), at), emit(Op::add, object(b), at), piece);
    branch(Cond::ne, equal, number(0), next, differ);
    start(differ);
    end_turn(result, turn, new_block(), next);
  });
  Operand front = set(Cond::slt, differs, number(0));
  uint32_t rest = size % piece;
  if (rest == 0) return front;
  return emit(Op::and_, front, same(object(a, size - rest), object(b, size - rest), rest));
}

// Arrays, tuples, buffers: by their bytes, as the type that holds both.
Operand Lowering::equal_values(const Binary& e) {
  const Type& wide = *e.common;
  uint32_t left = object_of(*e.left, wide), right = object_of(*e.right, wide);
  return equal_bytes(left, right, wide.size);
}

// Compares bytes with a literal, word by word. The last word may have more bytes than are compared: these are shifted out.
Operand Lowering::equal_literal(const Place& p, uint32_t size, std::string_view text, bool with_end) {
  if (text.size() + with_end > size) return number(0);
  std::string bytes(text);
  if (with_end && bytes.size() + 1 < size) bytes.push_back('\0'); // the last byte ends the text in any case
  BlockId yes = new_block(), no = new_block();
  for (size_t at = 0; at < bytes.size();) {
    const size_t left = std::min<size_t>(bytes.size() - at, 8);
    const bool is_in_one = at + std::bit_ceil(left) <= size;
    const auto width = static_cast<uint32_t>(is_in_one ? std::bit_ceil(left) : std::bit_floor(left));
    const size_t compared = std::min<size_t>(left, width);
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, compared);
    Operand found = load_word(p.plus(static_cast<int64_t>(at)), width, false);
    if (compared < width) {
      const size_t others = 64 - 8 * compared;
      found = emit(Op::shl, found, number(static_cast<int64_t>(others)));
      word <<= others;
    }
    BlockId next = new_block();
    branch(Cond::eq, found, number(static_cast<int64_t>(word)), next, no);
    start(next);
    at += compared;
  }
  jump(yes);
  return truth(yes, no);
}

Operand Lowering::equal_text(const Expr& a, const Expr& b) {
  bool a_literal = a.constant.kind == Constant::text, b_literal = b.constant.kind == Constant::text;
  if (a_literal && b_literal) return number(c_text_of(a) == c_text_of(b));
  if (a_literal || b_literal) {
    const Expr& other = a_literal ? b : a;
    // Words are compared only up to the literal's end: what is behind need not be clean.
    Place p = scratch_place(other.type->size, "text");
    into(other, p, *other.type, false);
    return equal_literal(p, other.type->size, c_text_of(a_literal ? a : b), true);
  }
  const Type& wide = a.type->size >= b.type->size ? *a.type : *b.type;
  uint32_t left = object_of(a, wide), right = object_of(b, wide);
  return equal_bytes(left, right, wide.size - 1); // the last byte tells of a cut
}

// `<` and its kin of text: by the first byte that differs, as memcmp() does it.
Operand Lowering::compare_order(const Binary& e) {
  const bool wants_less = e.op == BinaryOp::lt || e.op == BinaryOp::le;
  const bool wants_same = e.op == BinaryOp::le || e.op == BinaryOp::ge;
  Text left = text(*e.left), right = text(*e.right);
  // Whether the left one is larger, at the first byte that differs; -1: there is none.
  Operand order = search(std::min(left.size, right.size), [&](Operand turn, const Place& result) {
    BlockId same = new_block(), differ = new_block(), stop = new_block(), next = new_block();
    Operand x = byte_of(left, turn, stop), y = byte_of(right, turn, stop);
    branch(Cond::eq, x, y, same, differ);
    start(same);
    branch(Cond::eq, x, number(0), stop, next);
    start(differ);
    end_turn(result, set(Cond::ugt, x, y), stop, next);
  });
  if (wants_same) return set(Cond::ne, order, number(wants_less));
  return set(Cond::eq, order, number(!wants_less));
}

// strncmp(a, b, n): 0 if the first n bytes (or all up to the NUL) are the same, else 1.
Operand Lowering::compare_prefix(const Call& c) {
  const Expr& a = *c.arguments[0];
  const Expr& b = *c.arguments[1];
  bool a_literal = a.constant.kind == Constant::text, b_literal = b.constant.kind == Constant::text;
  const Constant& length = c.arguments[2]->constant;
  auto n = static_cast<uint64_t>(length.integer_value);
  Operand same;
  if (length.kind == Constant::integer && (a_literal || b_literal)) {
    std::string_view text = c_text_of(a_literal ? a : b);
    const Expr& other = a_literal ? b : a;
    Place p = scratch_place(other.type->size, "text");
    into(other, p, *other.type, false);
    same = equal_literal(p, other.type->size, text.substr(0, n), n > text.size());
  } else if (length.kind == Constant::integer) {
    const Type& wide = a.type->size >= b.type->size ? *a.type : *b.type;
    uint32_t left = object_of(a, wide), right = object_of(b, wide);
    same = equal_bytes(left, right, static_cast<uint32_t>(std::min<uint64_t>(n, wide.size - 1)));
  } else {
    return differ_within(a, b, scalar(*c.arguments[2]));
  }
  return emit(Op::xor_, same, number(1));
}

// The same for a length that is known when the probe runs.
Operand Lowering::differ_within(const Expr& a, const Expr& b, Operand length) {
  Text left = text(a), right = text(b);
  uint32_t limit = add_object(8, "limit");
  store({Space::script, object(limit), 0}, length, 8);
  Operand at = search(std::min(left.size, right.size), [&](Operand turn, const Place& result) {
    BlockId inside = new_block(), same = new_block(), differ = new_block(), stop = new_block(),
            next = new_block();
    Operand n = emit(Op::blur, load_word({Space::script, object(limit), 0}, 8, false));
    branch(Cond::ult, turn, n, inside, stop);
    start(inside);
    Operand x = byte_of(left, turn, stop), y = byte_of(right, turn, stop);
    branch(Cond::eq, x, y, same, differ);
    start(same);
    branch(Cond::eq, x, number(0), stop, next);
    start(differ);
    end_turn(result, turn, stop, next);
  });
  return set(Cond::sge, at, number(0));
}

// ---------------------------------------------------------------------------------------- length, search

// The reader of text finds the NUL faster than a loop.
Operand Lowering::text_length(const Expr& e) {
  if (e.constant.kind == Constant::text) return number(static_cast<int64_t>(c_text_of(e).size()));
  Text t = text(e);
  if (t.size <= 1) return number(0);
  Operand copy_of = object(add_object(t.size, "copy"));
  Reg length = fresh();
  append({.op = Op::read_string,
          .space = Space::script,
          .dst = length,
          .a = copy_of,
          .b = object(t.object),
          .imm2 = t.size});
  return emit(Op::sub, Operand::of(length), number(1));
}

// strstr(haystack, "needle"): offset or -1.
Operand Lowering::find_literal(const Expr& haystack, std::string_view needle) {
  Text t = text(haystack);
  auto turns = static_cast<int64_t>(t.size) - static_cast<int64_t>(needle.size());
  return search(turns, [&](Operand turn, const Place& result) {
    BlockId inside = new_block(), stop = new_block(), other = new_block(), next = new_block();
    branch(Cond::ult, turn, number(turns), inside, stop);
    start(inside);
    Place here{Space::script, emit(Op::add, object(t.object), turn), 0};
    for (size_t i = 0; i < needle.size(); i++) {
      BlockId more = new_block();
      Operand byte = load_word(here.plus(static_cast<int64_t>(i)), 1, false);
      branch(Cond::eq, byte, number(static_cast<uint8_t>(needle[i])), more, i ? next : other);
      if (i == 0) {
        start(other);
        branch(Cond::eq, byte, number(0), stop, next);
      }
      start(more);
    }
    end_turn(result, turn, stop, next);
  });
}

// A turn compares one byte: of the text from the place that is tried, of the needle from its start.
Operand Lowering::find_text(const Call& c) {
  constexpr size_t longest_straight = 32;
  if (const Expr& needle = *c.arguments[1]; needle.constant.kind == Constant::text) {
    std::string_view word = c_text_of(needle);
    if (c.arguments[0]->constant.kind == Constant::text) {
      size_t at = c_text_of(*c.arguments[0]).find(word);
      return number(at == word.npos ? -1 : static_cast<int64_t>(at));
    }
    if (word.empty()) return number(0);
    if (word.size() <= longest_straight) return find_literal(*c.arguments[0], word);
  }
  Text haystack = text(*c.arguments[0]), needle = text(*c.arguments[1]);
  uint32_t state = add_object(16, "search");
  zero({Space::script, object(state), 0}, 16);
  int64_t turns = int64_t{haystack.size} * needle.size;
  return search(turns, [&](Operand, const Place& result) {
    Place tried{Space::script, object(state), 0}, matched = tried.plus(8);
    BlockId whole = new_block(), more = new_block(), compare = new_block(), same = new_block(),
            differ = new_block(), stop = new_block();
    Operand first = emit(Op::blur, load_word(tried, 8, false));
    Operand offset = emit(Op::blur, load_word(matched, 8, false));
    Operand wanted = byte_of(needle, offset, stop);
    branch(Cond::eq, wanted, number(0), whole, more);
    start(whole);
    store(result, first, 8);
    jump(stop);
    start(more);
    Operand found = byte_of(haystack, emit(Op::add, first, offset), stop);
    branch(Cond::eq, found, number(0), stop, compare);
    start(stop);
    give_back(number(1));
    start(compare);
    branch(Cond::eq, found, wanted, same, differ);
    start(same);
    store(matched, emit(Op::add, offset, number(1)), 8);
    give_back(number(0));
    start(differ);
    store(tried, emit(Op::add, first, number(1)), 8);
    store(matched, number(0), 8);
    give_back(number(0));
  });
}

// strrstr(haystack, "needle"): offset of the last one, or -1. Behind the text's NUL are NULs only, which no needle has.
Operand Lowering::find_last(const Call& c) {
  const std::string_view needle = c_text_of(*c.arguments[1]);
  if (c.arguments[0]->constant.kind == Constant::text) {
    const size_t at = c_text_of(*c.arguments[0]).rfind(needle);
    return number(at == needle.npos ? -1 : static_cast<int64_t>(at));
  }
  if (needle.empty()) return text_length(*c.arguments[0]);
  Text t = text(*c.arguments[0]);
  const auto turns = static_cast<int64_t>(t.size) - static_cast<int64_t>(needle.size());
  return search(turns, [&](Operand turn, const Place& result) {
    BlockId inside = new_block(), stop = new_block(), next = new_block();
    branch(Cond::ult, turn, number(turns), inside, stop);
    start(inside);
    Operand offset = emit(Op::sub, number(turns - 1), turn);
    Place here{Space::script, emit(Op::add, object(t.object), offset), 0};
    for (size_t i = 0; i < needle.size(); i++) {
      BlockId more = new_block();
      branch(Cond::eq, load_word(here.plus(static_cast<int64_t>(i)), 1, false), number(static_cast<uint8_t>(needle[i])), more, next);
      start(more);
    }
    end_turn(result, offset, stop, next);
  });
}

// ----------------------------------------------------------------------------------------------- bytes

// The first `size` bytes of a value, or of what a pointer points to.
uint32_t Lowering::bytes_of(const Expr& e, uint32_t size) {
  const Type& t = *e.type;
  uint32_t index = add_object(std::max(size, 8u), "bytes");
  Place to{Space::script, object(index), 0};
  if (e.constant.kind == Constant::text) {
    put_text(to, text_of(e), size);
  } else if (t.is(Kind::pointer)) {
    copy(to, pointee(e, 0), size);
  } else if (t.is_scalar()) {
    store(to, scalar(e), 8);
  } else {
    int64_t start_of = t.is(Kind::buffer) ? 4 : 0;
    copy(to, temporary(e, t).plus(start_of), std::min(size, t.size));
  }
  return index;
}

// memcmp(left, right, n): 0, or the difference of the first bytes that differ.
Operand Lowering::compare_bytes(const Call& c) {
  constexpr int64_t shift = 256; // differences are stored above 0: -1 is "none"
  const Expr& count = *c.arguments[2];
  uint64_t size = source_.config.number("max_strlen");
  bool is_known = count.constant.kind == Constant::integer;
  if (is_known) size = static_cast<uint64_t>(count.constant.integer_value);
  for (size_t i = 0; i < 2; i++) {
    const Type& t = *c.arguments[i]->type;
    if (!t.is(Kind::pointer)) size = std::min<uint64_t>(size, t.is(Kind::buffer) ? t.count : t.size);
  }
  if (size == 0) return number(0);
  auto bytes = static_cast<uint32_t>(size);
  uint32_t left = bytes_of(*c.arguments[0], bytes), right = bytes_of(*c.arguments[1], bytes);
  uint32_t limit = add_object(8, "limit");
  if (!is_known) store({Space::script, object(limit), 0}, scalar(count), 8);
  Operand found = search(bytes, [&](Operand turn, const Place& result) {
    BlockId inside = new_block(), differ = new_block(), stop = new_block(), next = new_block();
    if (!is_known) {
      BlockId wanted = new_block();
      branch(Cond::ult, turn, emit(Op::blur, load_word({Space::script, object(limit), 0}, 8, false)), wanted,
             stop);
      start(wanted);
    }
    branch(Cond::ult, turn, number(bytes), inside, stop);
    start(inside);
    Operand x = load_word({Space::script, emit(Op::add, object(left), turn), 0}, 1, false);
    Operand y = load_word({Space::script, emit(Op::add, object(right), turn), 0}, 1, false);
    branch(Cond::eq, x, y, next, differ);
    start(differ);
    end_turn(result, emit(Op::add, emit(Op::sub, x, y), number(shift)), stop, next);
  });
  // found - shift where something was found.
  Operand is_found = set(Cond::sge, found, number(0));
  return emit(Op::mul, emit(Op::sub, found, number(shift)), is_found);
}

// -------------------------------------------------------------------------------------- lengths of text

// Bytes with the NUL for a length in the script. All numbers that are no length of this text ask for all of
// it, also -1, which must not become 0.
Operand Lowering::text_limit(const Expr& length) {
  Operand n = scalar(length);
  return emit(Op::add, n, set(Cond::ne, n, number(-1)));
}

// str(value, length): the text in an array, a buffer, a field or a string; cut where the length is smaller.
void Lowering::limited_text(const Place& to, uint32_t size, const Expr& from, Operand limit, bool pad) {
  const Type& t = *from.type;
  std::string_view literal = from.constant.kind == Constant::text ? c_text_of(from) : std::string_view();
  uint32_t bytes = from.constant.kind == Constant::text ? static_cast<uint32_t>(literal.size())
                   : t.is(Kind::buffer)                 ? t.count
                                                        : lang::stored_size(from);
  Place raw = scratch_place(bytes + 1, "text");
  if (from.constant.kind == Constant::text) {
    put_text(raw, literal, bytes + 1);
  } else {
    Place p = place(from);
    if (p.space == Space::context) p = {Space::kernel, address(p), 0};
    bool is_string = t.is(Kind::string) && p.space == Space::script && bytes == t.size; // its last byte is NUL or a mark
    copy(raw, t.is(Kind::buffer) ? p.plus(4) : p, bytes - is_string);
    store(raw.plus(bytes - is_string), number(0), 1);
  }
  read_text(to, size, address(raw), Space::script, limit, pad);
}

} // namespace ir
