// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
)

// List lists the metadata of objects; an empty namespace stands for all.
type List func(ctx context.Context, resource schema.GroupVersionResource, namespace string, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error)

// Metadata lists by a client. It asks the API server each time, and so needs no cache.
func Metadata(client metadata.Interface) List {
	return func(ctx context.Context, resource schema.GroupVersionResource, namespace string, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
		return client.Resource(resource).Namespace(namespace).List(ctx, o)
	}
}

// page is how many objects are listed at once, after the first one. (DP-7)
const page = 500

// notFinished selects the pods that are neither Succeeded nor Failed. (DP-6)
const notFinished = "status.phase!=" + string(corev1.PodSucceeded) + ",status.phase!=" + string(corev1.PodFailed)

// pods counts the active pods of a Namespace. (DP-6)
func (w *Webhook) pods(ctx context.Context, in string) (int, error) {
	n, err := w.count(ctx, corev1.SchemeGroupVersion.WithResource("pods"), in, notFinished)
	if err != nil {
		return n, fmt.Errorf("forbidden by ResourcesProtectionDeletion for list pods error: %w", err)
	}
	return n, nil
}

// Claims lists PersistentVolumeClaims of a namespace. Metadata would not do: the phase is not among it.
type Claims func(ctx context.Context, namespace string, o metav1.ListOptions) (*corev1.PersistentVolumeClaimList, error)

// ClaimsBy lists by a client. It asks the API server each time, and so needs no cache.
func ClaimsBy(client kubernetes.Interface) Claims {
	return func(ctx context.Context, namespace string, o metav1.ListOptions) (*corev1.PersistentVolumeClaimList, error) {
		return client.CoreV1().PersistentVolumeClaims(namespace).List(ctx, o)
	}
}

// claims counts the Bound claims of a Namespace, up to the end of the first page that has one. (DP-13)
func (w *Webhook) claims(ctx context.Context, in string) (n int, err error) {
	for o := (metav1.ListOptions{Limit: page}); ; {
		list, err := w.Claims(ctx, in, o)
		if err != nil {
			return 0, fmt.Errorf("forbidden by ResourcesProtectionDeletion for list pvc error: %w", err)
		}
		for i := range list.Items {
			if c := &list.Items[i]; c.Status.Phase == corev1.ClaimBound && c.DeletionTimestamp == nil {
				n++
			}
		}
		if o.Continue = list.Continue; o.Continue == "" || n > 0 {
			return n, nil
		}
	}
}

// crd is what the webhook reads of a CustomResourceDefinition.
type crd struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              crdSpec `json:"spec"`
}

type crdSpec struct {
	Group string `json:"group"`
	Names struct {
		Plural   string `json:"plural"`
		ListKind string `json:"listKind"`
	} `json:"names"`
	Versions []struct {
		Name    string `json:"name"`
		Served  bool   `json:"served"`
		Storage bool   `json:"storage"`
	} `json:"versions"`
}

// version is that in which objects are listed: the one that is stored, or another one if that
// is not served. Empty: none is served. (DP-7)
func (s *crdSpec) version() string {
	version := ""
	for _, v := range s.Versions {
		if v.Served && (v.Storage || version == "") {
			version = v.Name
		}
	}
	return version
}

// objects counts the objects of a CustomResourceDefinition that are not being deleted. (DP-7)
func (w *Webhook) objects(ctx context.Context, s *crdSpec) (int, error) {
	resource := schema.GroupVersionResource{Group: s.Group, Version: s.version(), Resource: s.Names.Plural}
	n, err := 0, errors.New("no version of it is served; serve one, or take the label away")
	if resource.Version != "" {
		n, err = w.count(ctx, resource, metav1.NamespaceAll, "")
	}
	if err != nil {
		return n, fmt.Errorf("failed to list CRs of %s: %w", resource.GroupVersion().WithKind(s.Names.ListKind), err)
	}
	return n, nil
}

// count counts objects that are not being deleted. The first one decides, so no more is asked
// for; once there is one, a page of what is left is counted for the message. (DP-7)
func (w *Webhook) count(ctx context.Context, resource schema.GroupVersionResource, in, fields string) (n int, err error) {
	if w.List == nil {
		return 0, errors.New("the webhook was given nothing that lists; take the label away")
	}
	for o := (metav1.ListOptions{FieldSelector: fields, Limit: 1}); ; o.Limit = page {
		list, err := w.List(ctx, resource, in, o)
		switch {
		case err != nil && n > 0: // which is enough to refuse
			return n, nil
		case err != nil:
			return 0, err
		}
		for i := range list.Items {
			if list.Items[i].DeletionTimestamp == nil {
				n++
			}
		}
		if o.Continue = list.Continue; o.Continue == "" || n > 0 && o.Limit == page {
			return n, nil
		}
	}
}
