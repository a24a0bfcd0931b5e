// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
)

// Times of Find, which only tests change.
var (
	// probeTimeout is how long a socket may take to answer which runtime it is of.
	probeTimeout = 5 * time.Second
	// probeAgain is the pause before the sockets are asked again.
	probeAgain = time.Second
	// doubt is how long a runtime of another version than that of the node is not taken
	// while a socket has not answered. It may be that of the right one.
	doubt = 10 * time.Second
)

// RuntimeOf returns the name and the version of the container runtime that the kubelet of
// a node uses. The status of the node has them, as in "containerd" and "2.3.7". Both are
// empty if it says nothing.
func RuntimeOf(node *corev1.Node) (name, version string) {
	name, version, _ = strings.Cut(node.Status.NodeInfo.ContainerRuntimeVersion, "://")
	return name, version
}

// NodeAddressOf returns the first InternalIP in the status of a node, which the kubelet has told. It is empty if there is none, and for one of the
// loopback interface. (PPM-4.4)
func NodeAddressOf(node *corev1.Node) string {
	for _, a := range node.Status.Addresses {
		if ip := net.ParseIP(a.Address); a.Type == corev1.NodeInternalIP && ip != nil && ip.IsGlobalUnicast() {
			return a.Address
		}
	}
	return ""
}

// RuntimeOfRules returns the RBAC rules that it takes to read the node that RuntimeOf
// is asked about. An agent that is told the socket of its runtime needs none.
func RuntimeOfRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{manifests.Rule("", "nodes", "get")}
}

// Find connects to the container runtime that the kubelet uses, out of those behind
// some sockets, given as to Dial. Sockets that do not exist or do not answer do not
// count; if none is left, Find asks again until the context is done.
//
// Name and version are those of the node, see RuntimeOf, and empty if they are not
// known. A runtime of another name is never taken. Several may remain if a node has a
// containerd of Docker's beside that of the kubelet. Then the one with the version is
// meant. It is an error if that does not tell either: a wrong one would have none of
// the containers. The only one may have another version, as one that was updated has.
// If another socket does not answer, Find asks for a while whether that has the
// version.
func Find(ctx context.Context, endpoints []string, name, version string) (*Runtime, error) {
	for began := time.Now(); ; {
		answered, missed := probe(ctx, existing(endpoints))
		chosen, err := choose(answered, name, version)
		doubtful := len(missed) > 0 && version != "" && (chosen == nil || chosen.Version != version) && time.Since(began) < doubt
		for _, r := range answered {
			if r != chosen || doubtful {
				r.Close()
			}
		}
		if !doubtful && len(answered) > 0 {
			return chosen, err
		}
		select {
		case <-time.After(probeAgain):
		case <-ctx.Done():
			return nil, errors.Join(append([]error{err}, missed...)...)
		}
	}
}

// existing returns the endpoints whose sockets exist, one of each: a folder may be
// mounted twice, or be a link to another one.
func existing(endpoints []string) (out []string) {
	var seen []os.FileInfo
	for _, endpoint := range endpoints {
		info, err := os.Stat(strings.TrimPrefix(endpoint, "unix://"))
		if err != nil || slices.ContainsFunc(seen, func(before os.FileInfo) bool { return os.SameFile(before, info) }) {
			continue
		}
		seen, out = append(seen, info), append(out, endpoint)
	}
	return out
}

// probe connects to all endpoints at once, and returns the runtimes that answer, in
// the order of the endpoints, and why others do not.
func probe(ctx context.Context, endpoints []string) (answered []*Runtime, missed []error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	runtimes, errs := make([]*Runtime, len(endpoints)), make([]error, len(endpoints))
	var probing sync.WaitGroup
	for i, endpoint := range endpoints {
		probing.Go(func() { runtimes[i], errs[i] = Dial(ctx, endpoint) })
	}
	probing.Wait()
	for i := range endpoints {
		if errs[i] != nil {
			missed = append(missed, errs[i])
			continue
		}
		answered = append(answered, runtimes[i])
	}
	return answered, missed
}

// choose returns the runtime that is meant.
func choose(answered []*Runtime, name, version string) (*Runtime, error) {
	fits := answered
	if name != "" {
		fits = slices.DeleteFunc(slices.Clone(fits), func(r *Runtime) bool { return r.Name != name })
	}
	if len(fits) > 1 {
		if same := slices.DeleteFunc(slices.Clone(fits), func(r *Runtime) bool { return r.Version != version }); len(same) > 0 {
			fits = same
		}
	}
	switch {
	case len(fits) == 1:
		return fits[0], nil
	case len(fits) > 1:
		return nil, fmt.Errorf("want one container runtime, found %s: name the socket of the one that the kubelet uses", describe(fits))
	case len(answered) > 0:
		return nil, fmt.Errorf("want the container runtime %s %s of the node, found %s: name its socket", name, version, describe(answered))
	}
	return nil, errors.New("no container runtime answers")
}

func describe(runtimes []*Runtime) string {
	var out []string
	for _, r := range runtimes {
		out = append(out, fmt.Sprintf("%s %s at %s", r.Name, r.Version, r.Endpoint))
	}
	return strings.Join(out, ", ")
}
