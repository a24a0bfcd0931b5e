// SPDX-License-Identifier: Apache-2.0

// Package migrate moves pods from a Deployment to a CloneSet. Kinds besides could follow the same way: both sides are
// scaled, and nothing else of them is touched.
package migrate

import (
	"context"
	"fmt"
	"io"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
)

// fieldManager is the name under which it writes.
const fieldManager = "kubectl-migrate"

// Migration is from a Deployment to a CloneSet of the same namespace.
type Migration struct {
	Kubernetes          kubernetes.Interface
	Dynamic             dynamic.Interface
	Mapper              meta.RESTMapper
	Namespace           string
	Source, Destination string
	// Interval is how often the status of either is looked at.
	Interval time.Duration
	// Out is told of progress.
	Out io.Writer
}

// Create creates the CloneSet from the Deployment, without pods, or with as many as that is to have. Both then have the
// same selector: each has the pods that it owns, as a Service has those of both. (KC-14)
func (m *Migration) Create(ctx context.Context, copyReplicas bool) error {
	deployment, err := m.Kubernetes.AppsV1().Deployments(m.Namespace).Get(ctx, m.Source, metav1.GetOptions{})
	if err != nil {
		return err
	}
	mapping, err := m.Mapper.RESTMapping(cloneSet)
	if err != nil {
		return err
	}
	set, err := newCloneSet(deployment, m.Destination, copyReplicas)
	if err != nil {
		return err
	}
	set.SetGroupVersionKind(mapping.GroupVersionKind)
	if _, err := m.Dynamic.Resource(mapping.Resource).Namespace(m.Namespace).Create(ctx, set, metav1.CreateOptions{FieldManager: fieldManager}); err != nil {
		return err
	}
	fmt.Fprintf(m.Out, "cloneset.apps.kruise.io/%s created\n", m.Destination)
	return nil
}

var cloneSet = schema.GroupKind{Group: "apps.kruise.io", Kind: "CloneSet"}

// notTaken are annotations that are about the Deployment and not about its pods.
var notTaken = []string{"deployment.kubernetes.io/revision", "kubectl.kubernetes.io/last-applied-configuration"}

// newCloneSet returns a CloneSet with what a Deployment has of it: its template as it stands, so that its defaults are
// those of the Deployment.
func newCloneSet(d *appsv1.Deployment, name string, copyReplicas bool) (*unstructured.Unstructured, error) {
	document, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
	if err != nil {
		return nil, err
	}
	spec := map[string]any{"replicas": int64(0)}
	for _, field := range []string{"selector", "template", "minReadySeconds", "revisionHistoryLimit"} {
		if value, found, _ := unstructured.NestedFieldNoCopy(document, "spec", field); found {
			spec[field] = value
		}
	}
	if copyReplicas {
		spec["replicas"] = int64(ptr.Deref(d.Spec.Replicas, 1))
	}
	if rolling, found, _ := unstructured.NestedMap(document, "spec", "strategy", "rollingUpdate"); found {
		spec["updateStrategy"] = rolling // maxUnavailable and maxSurge mean the same
	}
	set := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	set.SetName(name)
	set.SetNamespace(d.Namespace)
	set.SetLabels(d.Labels)
	annotations := map[string]string{}
	for key, value := range d.Annotations {
		annotations[key] = value
	}
	for _, key := range notTaken {
		delete(annotations, key)
	}
	set.SetAnnotations(annotations)
	return set, nil
}

// Move moves replicas, all if their number is negative: time and again as many as the surge allows. The CloneSet is
// scaled out, its new pods become ready, and the Deployment is scaled in by as many. An error says how far it came;
// nothing is moved back. (KC-14)
func (m *Migration) Move(ctx context.Context, replicas, surge int32) error {
	mapping, err := m.Mapper.RESTMapping(cloneSet)
	if err != nil {
		return err
	}
	from := m.Dynamic.Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace(m.Namespace)
	to := m.Dynamic.Resource(mapping.Resource).Namespace(m.Namespace)
	source, err := from.Get(ctx, m.Source, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if have := replicasOf(source); replicas < 0 {
		replicas = have
	} else if replicas > have {
		return fmt.Errorf("cannot move %d replicas: deployment %s has %d", replicas, m.Source, have)
	}
	for moved := int32(0); moved < replicas; {
		step := min(surge, replicas-moved)
		err := m.scale(ctx, to, m.Destination, step)
		if err == nil {
			err = m.scale(ctx, from, m.Source, -step)
		}
		if err != nil {
			return fmt.Errorf("%d of %d replicas are moved: %w", moved, replicas, err)
		}
		moved += step
		fmt.Fprintf(m.Out, "%d of %d replicas moved\n", moved, replicas)
	}
	return nil
}

// scale changes the replicas of a workload, and waits until it has as many pods, all of them ready.
func (m *Migration) scale(ctx context.Context, client dynamic.ResourceInterface, name string, by int32) error {
	if err := retry.RetryOnConflict(retry.DefaultRetry, func() error { return rescale(ctx, client, name, by) }); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, m.Interval, true, func(ctx context.Context) (bool, error) {
		object, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		status := func(field string) int64 {
			n, _, _ := unstructured.NestedInt64(object.Object, "status", field)
			return n
		}
		return status("observedGeneration") >= object.GetGeneration() &&
			status("replicas") == int64(replicasOf(object)) && status("readyReplicas") >= int64(replicasOf(object)), nil
	})
}

// rescale changes the replicas of a workload, as it was read.
func rescale(ctx context.Context, client dynamic.ResourceInterface, name string, by int32) error {
	object, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	replicas := replicasOf(object) + by
	if replicas < 0 {
		return fmt.Errorf("%s %s was scaled to %d by another client", object.GetKind(), name, replicas-by)
	}
	patch := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q},"spec":{"replicas":%d}}`, object.GetResourceVersion(), replicas)
	_, err = client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

// replicasOf returns the replicas that a workload is to have.
func replicasOf(object *unstructured.Unstructured) int32 {
	n, found, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if !found {
		return 1
	}
	return int32(n)
}
