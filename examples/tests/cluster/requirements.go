// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
)

// Missing is something that real nodes need and this machine lacks.
type Missing struct {
	// What is missing, and Install how to get it.
	What, Install string
}

// MissingError says that a cluster can have no real nodes on this machine.
type MissingError struct{ Missing []Missing }

// Error tells all that is missing and how to get it.
func (e *MissingError) Error() string {
	lines := []string{"this machine cannot run real nodes; missing:"}
	for _, m := range e.Missing {
		lines = append(lines, fmt.Sprintf("  %s: %s", m.What, m.Install))
	}
	return strings.Join(lines, "\n")
}

// RealNodesMissing returns what this machine lacks to run real nodes; nothing means that they can run.
func RealNodesMissing() []Missing {
	if runtime.GOOS != "linux" {
		return []Missing{{"Linux", "real nodes run on Linux only; use simulated nodes"}}
	}
	var missing []Missing
	if os.Geteuid() != 0 {
		missing = append(missing, Missing{"root", "run as root"})
	} else if !mayMount() {
		missing = append(missing, Missing{"the right to make namespaces, mounts and networks", "in a container, run it privileged"})
	}
	for _, p := range []struct{ program, pkg string }{{"runc", "runc"}, {"ip", "iproute2"}} {
		if _, err := findProgram(p.program); err != nil {
			missing = append(missing, Missing{p.program, install(p.pkg)})
		}
	}
	if _, err := networkPlugins(); err != nil {
		missing = append(missing, Missing{"CNI plugins", install("containernetworking-plugins")})
	}
	if _, err := registry.Busybox(); err != nil {
		missing = append(missing, Missing{"a static busybox", install("busybox-static")})
	}
	return missing
}

// mayMount says whether root has the capabilities NET_ADMIN and SYS_ADMIN, which most containers lack.
func mayMount() bool {
	const netAdmin, sysAdmin = 1 << 12, 1 << 21
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(status), "CapEff:")
	line, _, _ := strings.Cut(after, "\n")
	capabilities, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	return err == nil && capabilities&netAdmin != 0 && capabilities&sysAdmin != 0
}

func install(pkg string) string {
	return fmt.Sprintf("apt-get install %s, on Debian and Ubuntu", pkg)
}

// findProgram finds a program on the PATH, or in folders that only root has there.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if err == nil {
			break
		}
		path, err = exec.LookPath(filepath.Join(dir, name))
	}
	return path, err
}

// networkPlugins returns the directory of the CNI plugins: that of Debian's package, or the one that most others use.
func networkPlugins() (string, error) {
	for _, dir := range []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"} {
		if _, err := os.Stat(filepath.Join(dir, "bridge")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no CNI plugins found: want the program bridge in /usr/lib/cni or /opt/cni/bin")
}
