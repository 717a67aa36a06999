// `glinpack report --submission DIR`: a folder with what the TOP500 and Green500 ask for, and what is missing.
#pragma once

#include <optional>
#include <string>

#include "app/record/result_file.hpp"
#include "app/submission/power_log.hpp"

namespace glinpack::app {

/// Throws InputError unless the folder can be made, or is empty.
void check_submission_folder(const std::string& folder);

/// Writes hpl.out, HPL.dat, machine.txt and checklist.txt of the fastest run that passed (else the fastest), and with a
/// log power.csv and intervals.csv; the whole folder or nothing. `file`: of plu. `watts`: by a wall meter. Returns
/// lines with the verdicts. Throws InputError for unusable input, std::runtime_error if the folder cannot be written.
std::string write_submission(const std::string& folder, const ResultFile& file, const std::optional<PowerLog>& log,
                             std::optional<double> watts);

}  // namespace glinpack::app
