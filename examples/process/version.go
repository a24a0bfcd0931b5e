// SPDX-License-Identifier: Apache-2.0

package process

import (
	"runtime"
	"runtime/debug"
)

// version names what was built.
func version() string {
	text := "(unknown)"
	if build, ok := debug.ReadBuildInfo(); ok {
		text = build.Main.Version
		for _, setting := range build.Settings {
			if setting.Key == "vcs.revision" {
				text += " " + setting.Value
			}
		}
	}
	return text + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
