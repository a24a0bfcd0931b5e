package process

import (
	"runtime"
	"runtime/debug"
)

// Version names what was built, by the name of its program.
func Version(program string) string {
	text := program + " (unknown)"
	if build, ok := debug.ReadBuildInfo(); ok {
		text = program + " " + build.Main.Version
		for _, setting := range build.Settings {
			if setting.Key == "vcs.revision" {
				text += " " + setting.Value
			}
		}
	}
	return text + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
