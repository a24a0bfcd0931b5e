// SPDX-License-Identifier: Apache-2.0

// Package podnet reaches a pod from its node, as the kubelet does for hooks and probes. It takes the address that
// the container runtime has for it.
package podnet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/nodeagent"
)

// Address returns the address of the pod of a sandbox. It is an error if the runtime has none, which can be so for a while. For a
// pod in the network of the node it is that of the node, which the function tells. Nil stands for what the Runtime says, and that for nodeAddress.
func Address(ctx context.Context, runtime *nodeagent.Runtime, sandboxID string, node func() (string, error)) (string, error) {
	sandbox, err := runtime.SandboxStatus(ctx, sandboxID)
	if err != nil {
		return "", fmt.Errorf("find the address of the pod: %w", err)
	}
	if ip := sandbox.GetNetwork().GetIp(); ip != "" {
		return ip, nil
	}
	// A pod in the network of the node has no address of its own. It is not asked on the loopback interface. Servers of the
	// node that listen there alone are for processes of the node, and not for authors of probes and hooks.
	if sandbox.GetLinux().GetNamespaces().GetOptions().GetNetwork() == criv1.NamespaceMode_NODE {
		switch {
		case node != nil:
			return node()
		case runtime.NodeAddress != "":
			return runtime.NodeAddress, nil
		}
		return nodeAddress()
	}
	return "", fmt.Errorf("the runtime has no address of sandbox %s", sandboxID)
}

// nodeAddress returns the address of the node, in whose network this process runs: the one from which it would reach other networks.
func nodeAddress() (string, error) {
	for _, elsewhere := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} { // for documentation: nothing is sent
		conn, err := net.Dial("udp", elsewhere)
		if err != nil {
			continue
		}
		address, ok := conn.LocalAddr().(*net.UDPAddr)
		conn.Close()
		if ok && address.IP.IsGlobalUnicast() {
			return address.IP.String(), nil
		}
	}
	return "", errors.New("the node has no address from which it reaches other networks, so its pods in the network of the node cannot be asked")
}

// Port returns the number of a port, which may be given by the name of one of the container's.
func Port(port intstr.IntOrString, ports []corev1.ContainerPort) (int32, error) {
	if port.Type == intstr.Int {
		return port.IntVal, checkPort(port.IntVal)
	}
	for i := range ports {
		if ports[i].Name == port.StrVal {
			return ports[i].ContainerPort, checkPort(ports[i].ContainerPort)
		}
	}
	number, err := strconv.ParseInt(port.StrVal, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("port %q: want a number, or the name of a port of the container", port.StrVal)
	}
	return int32(number), checkPort(int32(number))
}

func checkPort(number int32) error {
	if number < 1 || number > 65535 {
		return fmt.Errorf("port %d: want 1 to 65535", number)
	}
	return nil
}

// Get returns the request of an httpGet hook or probe to a host, which stands in place of that of the action.
func Get(ctx context.Context, action *corev1.HTTPGetAction, host string, ports []corev1.ContainerPort) (*http.Request, error) {
	port, err := Port(action.Port, ports)
	if err != nil {
		return nil, fmt.Errorf("httpGet: %w", err)
	}
	path, err := url.Parse(action.Path)
	if err != nil {
		path = &url.URL{Path: action.Path}
	}
	target := url.URL{
		Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(int(port))),
		Path: path.Path, RawPath: path.RawPath, RawQuery: path.RawQuery,
	}
	if strings.EqualFold(string(action.Scheme), string(corev1.URISchemeHTTPS)) {
		target.Scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("httpGet: %w", err)
	}
	for _, header := range action.HTTPHeaders {
		request.Header.Add(header.Name, header.Value)
		if strings.EqualFold(header.Name, "Host") {
			request.Host = header.Value
		}
	}
	return request, nil
}

// Transport returns what sends one request. It does so without a proxy, since it stays on the node, and whatever the certificate says,
// since the container is asked about itself. There is no name that one could be for.
func Transport() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
}
