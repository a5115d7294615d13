// What results lack because files could not be opened.
#pragma once

namespace tool {

// "note: 2 files could not be opened (…)": on standard error, once; nothing if all could.
void note_unopened_files();

} // namespace tool
