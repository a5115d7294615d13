#!/usr/bin/env python3
"""What is linked into acu, as SPDX 2.3 in JSON: sbom.py VERSION. Versions are those of the building host's packages."""
import datetime
import json
import os
import subprocess
import sys

# Package, what is taken from it, license.
LINKED = [
    ("libdeflate-dev", "libdeflate", "MIT"),
    ("libzstd-dev", "libzstd", "BSD-3-Clause"),
    ("liblzma-dev", "liblzma", "LicenseRef-public-domain"),
    ("libiberty-dev", "libiberty", "GPL-2.0-or-later WITH GCC-exception-2.0"),
    ("libncurses-dev", "libncursesw, libtinfo", "X11-distribute-modifications-variant"),
    ("libclips-dev", "libclips", "LicenseRef-public-domain"),
    ("libsqlite3-dev", "libsqlite3", "blessing"),
    ("libedit-dev", "libedit", "BSD-3-Clause"),
    ("libbsd-dev", "libbsd", "BSD-3-Clause"),
    ("libmd-dev", "libmd", "BSD-3-Clause"),
    ("libsodium-dev", "libsodium (the archive only)", "ISC"),
    ("libssl-dev", "libssl, libcrypto (the archive only)", "Apache-2.0"),
    ("rapidjson-dev", "RapidJSON", "MIT"),
    ("node-d3-hierarchy", "d3-hierarchy", "BSD-3-Clause"),
    ("node-d3-selection", "d3-selection", "BSD-3-Clause"),
    ("libstdc++-12-dev", "libstdc++, libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("libc6-dev", "libc (the archive only)", "LGPL-2.1-or-later"),
]


def installed(package):
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"ERROR: the package {package} is not installed, whose version belongs into the list")
    return done.stdout


def main():
    version = sys.argv[1]
    made = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    packages = [{"SPDXID": "SPDXRef-acu", "name": "acu", "versionInfo": version, "downloadLocation": "NOASSERTION", "licenseDeclared": "Apache-2.0", "filesAnalyzed": False}]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-acu"}]
    for package, name, license_of in LINKED:
        own = "SPDXRef-" + "".join(c if c.isalnum() else "-" for c in package)
        packages.append({"SPDXID": own, "name": package, "summary": name, "versionInfo": installed(package), "downloadLocation": "NOASSERTION", "licenseDeclared": license_of,
                         "filesAnalyzed": False, "supplier": "Organization: Debian"})
        relations.append({"spdxElementId": "SPDXRef-acu", "relationshipType": "STATIC_LINK", "relatedSpdxElement": own})
    print(json.dumps({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"acu-{version}",
                      "documentNamespace": f"https://acu.invalid/spdx/acu-{version}",
                      "creationInfo": {"created": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: acu packaging"]},
                      "packages": packages, "relationships": relations,
                      "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-public-domain", "extractedText": "Placed in the public domain by its authors."}]}, indent=1))


main()
