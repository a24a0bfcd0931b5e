// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
)

// licenseLine is the first line of every Go file, an empty one behind it. What is
// generated has it behind its build constraint.
const licenseLine = "// SPDX-License-Identifier: Apache-2.0\n\n"

// licenseProblems lists what is wrong with the license line of a Go file.
func licenseProblems(name string, source []byte) []string {
	if bytes.HasPrefix(source, []byte("//go:build ")) {
		_, source, _ = bytes.Cut(source, []byte("\n\n"))
	}
	if bytes.HasPrefix(source, []byte(licenseLine)) {
		return nil
	}
	return []string{name + " does not begin with " + licenseLine[:len(licenseLine)-2] + " and an empty line"}
}
