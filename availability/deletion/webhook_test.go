// SPDX-License-Identifier: Apache-2.0

package deletion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/deletion"
)

// request asks for the deletion of shop, an object with this JSON.
func request(kind schema.GroupKind, old string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "r1", Operation: admissionv1.Delete, Name: "shop", OldObject: runtime.RawExtension{Raw: []byte(old)},
		Kind:     metav1.GroupVersionKind{Group: kind.Group, Version: "v1", Kind: kind.Kind},
		Resource: metav1.GroupVersionResource{Group: kind.Group, Version: "v1", Resource: strings.ToLower(kind.Kind) + "s"},
	}
}

// object is the JSON of one with the label, and with a spec.
func object(protection, spec string) string {
	return fmt.Sprintf(`{"metadata":{"name":"shop","labels":{"policy.kruise.io/delete-protection":%q}},"spec":{%s}}`, protection, spec)
}

// cluster is an API server that lists metadata.
type cluster struct {
	objects int // that are there
	leaving int // how many of them, the first ones, are being deleted
	broken  int // the list that fails, from 1 on
	asked   []string
}

func (c *cluster) List(_ context.Context, r schema.GroupVersionResource, namespace string, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	c.asked = append(c.asked, fmt.Sprintf("%s/%s %s in %q, %q, limit %d, from %q", r.Group, r.Version, r.Resource, namespace, o.FieldSelector, o.Limit, o.Continue))
	if c.broken == len(c.asked) {
		return nil, errors.New("no connection")
	}
	from, to, next := page(c.objects, o)
	list := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{Continue: next}}
	for i := from; i < to; i++ {
		item := metav1.PartialObjectMetadata{}
		if i < c.leaving {
			item.DeletionTimestamp = &metav1.Time{}
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// page is the part of so many objects that is listed, and what the next part continues.
func page(all int, o metav1.ListOptions) (from, to int, next string) {
	_, _ = fmt.Sscan(o.Continue, &from) // the first page continues none
	if to = min(from+int(o.Limit), all); to < all {
		next = fmt.Sprint(to)
	}
	return from, to, next
}

// claims is an API server that lists claims: a letter each, of Bound, Pending, and Deleted ones that are Bound.
type claims struct {
	phases string
	broken bool
	asked  []string
}

func (c *claims) List(_ context.Context, namespace string, o metav1.ListOptions) (*corev1.PersistentVolumeClaimList, error) {
	c.asked = append(c.asked, fmt.Sprintf("claims in %q, limit %d, from %q", namespace, o.Limit, o.Continue))
	if c.broken {
		return nil, errors.New("no connection")
	}
	from, to, next := page(len(c.phases), o)
	list := &corev1.PersistentVolumeClaimList{ListMeta: metav1.ListMeta{Continue: next}}
	for _, phase := range c.phases[from:to] {
		claim := corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
		switch phase {
		case 'P':
			claim.Status.Phase = corev1.ClaimPending
		case 'D':
			claim.DeletionTimestamp = &metav1.Time{}
		}
		list.Items = append(list.Items, claim)
	}
	return list, nil
}

const definitionSpec = `"group":"shop.io","names":{"plural":"carts","kind":"Cart","listKind":"CartList"},"scope":"Namespaced","versions":[{"name":"v2","served":true,"storage":false},{"name":"v1","served":true,"storage":true}]`

// DP-5: what is decided already is not counted.
func TestCounted(t *testing.T) {
	for decision, n := range map[deletion.Decision]int{{Reason: "because"}: 0, {}: 3} {
		if got := decision.Counted(n); got != decision {
			t.Errorf("%+v becomes %+v", decision, got)
		}
	}
}

// Whatever it is asked, the webhook answers, and refuses only with 400 or 403.
func FuzzWebhook(f *testing.F) {
	for i := range deletion.Kinds() {
		for _, old := range []string{"", "{", "null", `{"spec":null}`, object("Always", `"replicas":3`), object("Cascading", definitionSpec), object("Cascading", `"replicas":"3"`)} {
			f.Add(uint8(i), old)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, old string) {
		kinds := deletion.Kinds()
		webhook := &deletion.Webhook{List: (&cluster{objects: 2}).List}
		response := webhook.Validate(t.Context(), request(kinds[int(i)%len(kinds)], old))
		if response == nil || !response.Allowed && response.Result.Code != 400 && response.Result.Code != 403 {
			t.Fatalf("answer %+v", response)
		}
		if len(old) > 0 && !json.Valid([]byte(old)) && (response.Allowed || response.Result.Code != 400) {
			t.Errorf("no JSON is answered with %+v", response)
		}
	})
}
