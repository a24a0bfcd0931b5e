// SPDX-License-Identifier: Apache-2.0

package version

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	if got := String(); !strings.HasSuffix(got, " "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("the version is %q", got)
	}
	before := release
	defer func() { release = before }()
	release = "v1.2.3"
	if got, _ := Of(); got != "v1.2.3" || !strings.HasPrefix(String(), "v1.2.3 ") {
		t.Errorf("the version is %q, %q", got, String())
	}
}

// "make build" of a release has the linker set the variable of this package, and any other build sets nothing.
func TestReleasesAreStamped(t *testing.T) {
	for arguments, want := range map[string]int{"": 0, "VERSION=v0.0.0": 0, "VERSION=v1.2.3": 1} {
		dry := exec.Command("make", append([]string{"-C", "../../..", "-n", "build"}, strings.Fields(arguments)...)...)
		dry.Env = append(dry.Environ(), "VERSION=", "MAKEFLAGS=")
		text, err := dry.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		const stamp = "-X github.com/podwright/podwright/examples/process/version.release="
		if got := strings.Count(string(text), stamp); got != want || want > 0 && !strings.Contains(string(text), stamp+"v1.2.3") {
			t.Errorf("make build %s:\n%s", arguments, text)
		}
	}
}
