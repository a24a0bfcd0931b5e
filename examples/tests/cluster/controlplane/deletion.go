// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
)

// sparing is a client that deletes only pods that are terminating, as a store of pods says. KWOK deletes by name alone. If KWOK
// is late or deletes twice, it would hit the next pod of that name, such as a StatefulSet creates.
type sparing struct {
	kubernetes.Interface
	pods cache.Store
}

func (c sparing) CoreV1() typedcorev1.CoreV1Interface {
	return sparingCore{c.Interface.CoreV1(), c.pods}
}

type sparingCore struct {
	typedcorev1.CoreV1Interface
	pods cache.Store
}

func (c sparingCore) Pods(namespace string) typedcorev1.PodInterface {
	return sparingPods{c.CoreV1Interface.Pods(namespace), namespace, c.pods}
}

type sparingPods struct {
	typedcorev1.PodInterface
	namespace string
	pods      cache.Store
}

// Delete deletes the pod that the store knows to be terminating. If it knows none, that has been done.
func (p sparingPods) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	pod, found := storeGetter[*corev1.Pod]{p.pods}.GetWithNamespace(name, p.namespace)
	if !found || pod.DeletionTimestamp == nil {
		return nil
	}
	options.Preconditions = metav1.NewUIDPreconditions(string(pod.UID))
	return p.PodInterface.Delete(ctx, name, options)
}
