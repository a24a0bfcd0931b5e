// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// processesIn returns the processes that work in a directory: "PID NAME" each. Zombies do not.
func processesIn(dir string) []string {
	var found []string
	entries, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is well formed
	if len(entries) == 0 {
		return processesFromLsof(dir)
	}
	for _, entry := range entries {
		if target, err := os.Readlink(entry); err != nil || strings.TrimSuffix(target, " (deleted)") != dir {
			continue
		}
		process := filepath.Dir(entry)
		name, _ := os.ReadFile(filepath.Join(process, "comm"))
		found = append(found, filepath.Base(process)+" "+strings.TrimSpace(string(name)))
	}
	return found
}

// processesFromLsof asks lsof, if there is no /proc.
func processesFromLsof(dir string) []string {
	out, _ := exec.Command("lsof", "-d", "cwd", "-F", "pn").Output()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	var found []string
	var pid string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "p"):
			pid = line[1:]
		case line == "n"+real || line == "n"+dir:
			found = append(found, pid)
		}
	}
	return found
}
