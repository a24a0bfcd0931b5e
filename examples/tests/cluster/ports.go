// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// freePorts picks a loopback port for every name.
func freePorts(names ...string) (map[string]int, error) {
	ports := map[string]int{}
	for _, name := range names {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		ports[name] = port
	}
	return ports, nil
}

// FreePort returns a port on which no process listens on 127.0.0.1. No other call returns it, in this process and in
// others of this user, as long as this process lives. The program that is to listen there may be down for a while.
// The port lies below those that the kernel gives to outgoing connections (Linux begins at 32768, macOS at 49152).
func FreePort() (int, error) {
	for range 100 {
		port := 20000 + rand.IntN(12000)
		if taken, err := takePort(port); taken || err != nil {
			return port, err
		}
	}
	return 0, errors.New("no free port found on 127.0.0.1 between 20000 and 32000")
}

// takePort tells whether a port is this process's from now on. The lock goes with the process, however it ends.
func takePort(port int) (bool, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("podwright-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	file, err := syscall.Open(filepath.Join(dir, fmt.Sprint(port)), syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return false, err
	}
	if syscall.Flock(file, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return true, listener.Close()
		}
	}
	return false, syscall.Close(file)
}
