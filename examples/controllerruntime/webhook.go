// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podwright/podwright/examples/controllerruntime/adapter"
	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/cloneset"
)

// AddWebhook serves the CloneSet webhook on the manager's webhook server.
func AddWebhook(m ctrl.Manager) error {
	options, err := clients(m)
	if err != nil {
		return err
	}
	webhook := &cloneset.Webhook{
		Pods: func(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
			pod := &corev1.Pod{}
			return pod, m.GetClient().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, pod)
		},
		Templates: workloads.DryRun(options.Kubernetes.CoreV1()),
	}
	_, err = adapter.Add(m, manager.Options{Kubernetes: options.Kubernetes}, cloneset.Describe(options, webhook).WebhookOnly())
	return err
}
