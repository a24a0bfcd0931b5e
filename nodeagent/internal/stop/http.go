// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// get runs an httpGet hook. Any answer will do, as with the kubelet.
func (s *Stopper) get(ctx context.Context, r *Request, action *corev1.HTTPGetAction) error {
	host, err := s.host(ctx, r, action)
	if err != nil {
		return err
	}
	request, err := httpRequest(ctx, r, action, host)
	if err != nil {
		return err
	}
	transport := s.HTTP
	if transport == nil {
		own := &http.Transport{
			// Like a probe, a hook asks the container about itself: there is no
			// name that a certificate could be for.
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
			DisableKeepAlives: true,
		}
		defer own.CloseIdleConnections()
		transport = own
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("GET %s://%s%s: %w", request.URL.Scheme, request.URL.Host, request.URL.Path, err) // its query may hold a secret
	}
	_, _ = io.CopyN(io.Discard, answer.Body, 1<<10)
	answer.Body.Close()
	return nil
}

// host returns where the request goes: what the hook says, or else the pod.
func (s *Stopper) host(ctx context.Context, r *Request, action *corev1.HTTPGetAction) (string, error) {
	switch {
	case action.Host != "":
		return action.Host, nil
	case r.PodIP != "":
		return r.PodIP, nil
	}
	sandbox, err := s.Runtime.SandboxStatus(ctx, r.SandboxID)
	if err != nil {
		return "", fmt.Errorf("find the address of the pod: %w", err)
	}
	if ip := sandbox.GetNetwork().GetIp(); ip != "" {
		return ip, nil
	}
	// A pod in the network of the node has no address of its own. Node agents run
	// in that network, too.
	if sandbox.GetLinux().GetNamespaces().GetOptions().GetNetwork() == criv1.NamespaceMode_NODE {
		return "127.0.0.1", nil
	}
	return "", fmt.Errorf("the runtime has no address of sandbox %s", r.SandboxID)
}

// httpRequest returns the request of a hook.
func httpRequest(ctx context.Context, r *Request, action *corev1.HTTPGetAction, host string) (*http.Request, error) {
	port, err := r.port(action.Port)
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
