// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	// locksDir holds a locked file for every number that a running cluster has: networks are the whole machine's.
	locksDir = "/run/podwright"
	// mostNetworks is how many clusters with real nodes one machine has room for.
	mostNetworks = 32
	// mostRealNodes is how many real nodes a cluster has room for.
	mostRealNodes = 15
)

// network connects the real nodes of a cluster and this machine by a bridge. Every cluster on the machine has its number, and
// with it a part of 198.18.0.0/15, which is set aside for tests of networks. The part has 16 subnets: one for the bridge and
// the nodes on it, and one for the pods of each node.
type network struct {
	number int
	lock   *os.File
}

// newNetwork removes what clusters have left behind that did not end by themselves, takes a number that is free, and makes
// the bridge.
func newNetwork(ctx context.Context, log *lockedWriter) (*network, error) {
	removeDeadNetworks(log)
	var last error
	for number := range mostNetworks {
		n := &network{number: number}
		if n.taken() {
			continue
		}
		ok, err := n.acquire()
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if err := errors.Join(n.removeLeftovers(), n.createBridge(ctx)); err != nil {
			last = errors.Join(err, n.close())
			continue
		}
		return n, raiseInotifyLimits(log)
	}
	return nil, fmt.Errorf("no network is free for real nodes: all %d parts of 198.18.0.0/15 are taken, or could not be used (last: %w)", mostNetworks, last)
}

// removeDeadNetworks removes the networks whose clusters live no more. It does not wait for the number of one to be taken
// again: as long as lower ones are free, none is.
func removeDeadNetworks(log *lockedWriter) {
	for number := range mostNetworks {
		n := &network{number: number}
		if !n.hasBridge() {
			continue
		}
		ok, err := n.acquire()
		if ok {
			err = n.close()
		}
		if err != nil {
			log.printf("%s of a cluster that lives no more is left: %v\n", n.bridge(), err)
		}
	}
}

// subnet returns one of the cluster's sixteen.
func (n *network) subnet(i int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, byte(18 + n.number/16), byte(n.number%16*16 + i), 0}), 24)
}

func (n *network) address(subnet, host int) string {
	bytes := n.subnet(subnet).Addr().As4()
	bytes[3] = byte(host)
	return netip.AddrFrom4(bytes).String()
}

func (n *network) hostIP() string            { return n.address(0, 1) }
func (n *network) nodeIP(node int) string    { return n.address(0, 10+node) }
func (n *network) podCIDR(node int) string   { return n.subnet(1 + node).String() }
func (n *network) bridge() string            { return fmt.Sprintf("podwright%d", n.number) }
func (n *network) cgroup(node string) string { return fmt.Sprintf("podwright.%d.%s", n.number, node) }
func (n *network) lockFile() string          { return filepath.Join(locksDir, fmt.Sprintf("%d.lock", n.number)) }

// taken says whether another interface has addresses of this network.
func (n *network) taken() bool {
	whole := netip.PrefixFrom(n.subnet(0).Addr(), 20)
	interfaces, err := net.Interfaces()
	if err != nil {
		return false
	}
	for _, i := range interfaces {
		addresses, _ := i.Addrs()
		for _, address := range addresses {
			prefix, err := netip.ParsePrefix(address.String())
			if err == nil && i.Name != n.bridge() && whole.Overlaps(prefix.Masked()) {
				return true
			}
		}
	}
	return false
}

// acquire locks the number. The lock goes with this process, however it ends.
func (n *network) acquire() (bool, error) {
	file, err := n.openLock()
	if err != nil {
		return false, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return false, nil
	}
	// The cluster that had it may have removed the file just before we locked it.
	ours, err := file.Stat()
	current, failure := os.Stat(n.lockFile())
	if err != nil || failure != nil || !os.SameFile(ours, current) {
		file.Close()
		return false, nil
	}
	n.lock = file
	return true, nil
}

// openLock opens the file to be locked. Its directory goes with the last cluster, which may end just now.
func (n *network) openLock() (*os.File, error) {
	for {
		if err := os.MkdirAll(locksDir, 0o755); err != nil {
			return nil, err
		}
		file, err := os.OpenFile(n.lockFile(), os.O_CREATE|os.O_RDWR, 0o600)
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
}

// createBridge makes the bridge, and routes to the pods of all nodes that there may be.
func (n *network) createBridge(ctx context.Context) error {
	commands := []string{
		fmt.Sprintf("link add %s type bridge", n.bridge()),
		fmt.Sprintf("address add %s/24 dev %s", n.hostIP(), n.bridge()),
		fmt.Sprintf("link set %s up", n.bridge()),
	}
	for node := range mostRealNodes {
		commands = append(commands, fmt.Sprintf("route add %s via %s", n.podCIDR(node), n.nodeIP(node)))
	}
	return ip(ctx, (*exec.Cmd).Run, commands)
}

// connect plugs a node into the bridge.
func (n *network) connect(ctx context.Context, node *RealNode) error {
	plug := fmt.Sprintf("pw%d-%d", n.number, node.number)
	outside := []string{
		fmt.Sprintf("link add %s type veth peer name eth0 netns %d", plug, node.machine.pid()),
		fmt.Sprintf("link set %s master %s up", plug, n.bridge()),
	}
	inside := []string{
		"link set lo up",
		fmt.Sprintf("address add %s/24 dev eth0", node.IP),
		"link set eth0 up",
		"route add default via " + n.hostIP(),
	}
	for other := range mostRealNodes {
		if other != node.number {
			inside = append(inside, fmt.Sprintf("route add %s via %s", n.podCIDR(other), n.nodeIP(other)))
		}
	}
	if err := ip(ctx, (*exec.Cmd).Run, outside); err != nil {
		return err
	}
	return ip(ctx, node.Run, inside)
}

// ip gives commands to the program of that name, run by run.
func ip(ctx context.Context, run func(*exec.Cmd) error, commands []string) error {
	path, err := findProgram("ip")
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, path, "-batch", "-")
	command.Stdin = strings.NewReader(strings.Join(commands, "\n"))
	var out strings.Builder
	command.Stdout, command.Stderr = &out, &out
	if err := run(command); err != nil {
		return fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(out.String()))
	}
	return nil
}

// removeLeftovers removes what a cluster of this number has left behind that did not end by itself.
func (n *network) removeLeftovers() error {
	err := removeCgroups(n.cgroup("*"))
	if n.hasBridge() {
		err = errors.Join(err, ip(context.Background(), (*exec.Cmd).Run, []string{"link delete " + n.bridge()}))
	}
	return err
}

func (n *network) hasBridge() bool {
	_, err := net.InterfaceByName(n.bridge())
	return err == nil
}

// close removes the network and gives its number back.
func (n *network) close() error {
	err := n.removeLeftovers()
	if n.lock != nil {
		err = errors.Join(err, os.Remove(n.lockFile()), n.lock.Close())
		_ = os.Remove(locksDir) // fails while another cluster has one
	}
	return err
}
