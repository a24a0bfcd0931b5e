// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
)

// Exec runs a command in a container of a real node, as kubectl exec does, and returns what it prints. The error of a command
// that fails has what it prints on standard error.
func (c *Cluster) Exec(ctx context.Context, pod *corev1.Pod, container string, command ...string) (stdout string, err error) {
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return "", err
	}
	request := client.CoreV1().RESTClient().Post().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: container, Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(c.Config(), "GET", request.URL().String())
	if err != nil {
		return "", err
	}
	var out, errs bytes.Buffer // two, since both are written at once
	if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &errs}); err != nil {
		return out.String(), fmt.Errorf("%q in container %s of pod %s/%s: %w: %s", command, container, pod.Namespace, pod.Name, err, errs.String())
	}
	return out.String(), nil
}
