package app

import (
	"fmt"
	"path/filepath"
	"strings"
)

// mounted is where the manifests of OpenKruise mount the /var/run of the node.
const mounted = "/hostvarrun"

// folders are where the sockets of container runtimes are looked for, and
// sockets which, both in order.
var (
	folders = []string{mounted, "/run", "/var/run"}
	sockets = []string{"containerd.sock", "containerd/containerd.sock", "crio.sock", "crio/crio.sock"}
)

// endpoint returns the socket of the container runtime. exists tells whether
// there is a file.
func (c *Config) endpoint(exists func(string) bool) (string, error) {
	switch {
	case c.Endpoint != "":
		return c.Endpoint, nil
	case c.SocketFile != "":
		return filepath.Join(mounted, c.SocketFile), nil
	}
	for _, folder := range folders {
		for _, socket := range sockets {
			if path := filepath.Join(folder, socket); exists(path) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("no container runtime: none of %s is in %s; want --cri-endpoint=<socket>", strings.Join(sockets, ", "), strings.Join(folders, ", "))
}
