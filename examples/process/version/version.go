// SPDX-License-Identifier: Apache-2.0

// Package version says which version of podwright a program was built from.
package version

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// release is the tag of the release, such as v0.1.0. "make build VERSION=v0.1.0" has the linker set it. This module is a
// folder of the repository, and a tag of the repository is none of the module.
var release string

// Unknown is the version of a program that was built without module support.
const Unknown = "(unknown)"

// Of returns the release, or what Go knows of the module, and the commit, which is empty if Go does not know it.
func Of() (version, revision string) {
	version = release
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(version, Unknown), ""
	}
	for _, setting := range build.Settings {
		if setting.Key == "vcs.revision" {
			revision = setting.Value
		}
	}
	return cmp.Or(version, build.Main.Version, Unknown), revision
}

// String names what was built, with the compiler and the platform.
func String() string {
	text, revision := Of()
	if revision != "" {
		text += " " + revision
	}
	return text + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
