// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// inotifyLimits are settings of the whole machine that the kubelets and container runtimes of several nodes outgrow.
var inotifyLimits = map[string]int{
	"/proc/sys/fs/inotify/max_user_instances": 8192,
	"/proc/sys/fs/inotify/max_user_watches":   524288,
}

// raiseInotifyLimits raises those limits that are too low, and says so. They stay.
func raiseInotifyLimits(log *lockedWriter) error {
	for file, want := range inotifyLimits {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if have, err := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || have >= want {
			continue
		}
		if err := os.WriteFile(file, []byte(strconv.Itoa(want)), 0); err != nil {
			return fmt.Errorf("raise a limit that real nodes outgrow: %w", err)
		}
		log.printf("%s is now %d, was %s: real nodes need that; it stays until the machine restarts\n", file, want, strings.TrimSpace(string(text)))
	}
	return nil
}
