// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/nodeagent/internal/podnet"
)

// get runs an httpGet hook. Any answer will do, as with the kubelet.
func (s *Stopper) get(ctx context.Context, r *Request, action *corev1.HTTPGetAction) error {
	host, err := s.host(ctx, r, action)
	if err != nil {
		return err
	}
	request, err := podnet.Get(ctx, action, host, r.ports)
	if err != nil {
		return err
	}
	transport := s.http
	if transport == nil {
		own := podnet.Transport()
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

// host returns the host of the request: what the hook says, or else the pod.
func (s *Stopper) host(ctx context.Context, r *Request, action *corev1.HTTPGetAction) (string, error) {
	switch {
	case action.Host != "":
		return action.Host, nil
	case r.PodIP != "":
		return r.PodIP, nil
	}
	return podnet.Address(ctx, s.Runtime, r.SandboxID, s.nodeAddress)
}
