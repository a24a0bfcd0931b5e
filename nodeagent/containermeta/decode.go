// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"encoding/json"
	"regexp"
	"strings"
)

// runtimeInfo is the part of what runtimes tell of a container beyond CRI that is
// read. containerd and CRI-O both tell the configuration that they gave to the
// OCI runtime; containerd also what the kubelet asked for.
type runtimeInfo struct {
	RuntimeSpec struct {
		Process *struct {
			Env []string `json:"env"`
		} `json:"process"`
	} `json:"runtimeSpec"`
	Config *struct {
		Envs []struct {
			Key   string `json:"key"`
			Value string `json:"value"`
		} `json:"envs"`
	} `json:"config"`
}

// recordedEnvironment reads the environment of a container from what its runtime
// tells beyond CRI. It returns false if nothing is told of it.
func recordedEnvironment(info map[string]string) (map[string]string, bool) {
	var told runtimeInfo
	if json.Unmarshal([]byte(info["info"]), &told) != nil {
		return nil, false
	}
	switch {
	case told.RuntimeSpec.Process != nil:
		return variables(told.RuntimeSpec.Process.Env), true
	case told.Config != nil:
		env := map[string]string{}
		for _, variable := range told.Config.Envs {
			env[variable.Key] = variable.Value
		}
		return env, true
	}
	return nil, false
}

// variables reads NAME=VALUE; the last one of a name counts.
func variables(all []string) map[string]string {
	env := make(map[string]string, len(all))
	for _, variable := range all {
		if name, value, ok := strings.Cut(variable, "="); ok {
			env[name] = value
		}
	}
	return env
}

// parseVariables reads variables that end with zero bytes. Values can hold
// anything else.
func parseVariables(output []byte) map[string]string {
	return variables(strings.Split(string(output), "\x00"))
}

// startsVariable matches a line that begins a variable.
var startsVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*=`)

// parseLines reads variables that end with line breaks. A line that does not
// begin a variable goes on with the value before it. Blanks are kept.
func parseLines(output []byte) map[string]string {
	var all []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(output), "\n"), "\n") {
		if startsVariable.MatchString(line) || len(all) == 0 {
			all = append(all, line)
			continue
		}
		all[len(all)-1] += "\n" + line
	}
	return variables(all)
}
