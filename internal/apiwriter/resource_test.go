// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// A trial changes nothing. What it cannot tell, since a webhook takes no dry runs, is no refusal; nor is a name that is taken.
func TestTrials(t *testing.T) {
	pods := corev1.Resource("pods")
	for _, test := range []struct {
		name          string
		err           error
		create, patch bool // is refused
	}{
		{"accepted", nil, false, false},
		{"refused", apierrors.NewForbidden(pods, "web-0", errors.New("exceeded quota")), true, true},
		{"a webhook takes no dry runs", apierrors.NewBadRequest("admission webhook does not support dry run"), false, false},
		{"the name is taken", apierrors.NewAlreadyExists(pods, "web-0"), false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := fakecluster.New(nil)
			client, err := kubernetes.NewForConfig(server.Config("controller"))
			if err != nil {
				t.Fatal(err)
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}}}
			resource := Pods(client)
			if _, err := resource.Create(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			server.FailBefore(func(r fakecluster.Request) error {
				if !r.DryRun {
					t.Errorf("%s is no trial", r.String())
				}
				return test.err
			})
			other := pod.DeepCopy()
			other.Name = "web-1"
			if err := resource.TryCreate(t.Context(), other); (err != nil) != test.create {
				t.Errorf("creation: error %v, want one: %t", err, test.create)
			}
			if err := resource.TryPatch(t.Context(), pod, "", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`)); (err != nil) != test.patch {
				t.Errorf("patch: error %v, want one: %t", err, test.patch)
			}
			server.FailBefore(nil)
			left, err := client.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
			if err != nil || len(left.Items) != 1 || left.Items[0].Labels != nil {
				t.Errorf("error %v, pods %+v", err, left.Items)
			}
		})
	}
}

// A deletion is of the object that was read; that of an unchanged one, of the version that was read.
func TestDeletions(t *testing.T) {
	for _, test := range []struct {
		name           string
		gone, again    bool // and created again
		changed        bool
		any, unchanged bool // the object that is there is deleted
		conflict       bool // if it is to be unchanged
	}{
		{name: "it is there", any: true, unchanged: true},
		{name: "it has changed", changed: true, any: true, conflict: true},
		{name: "it is gone", gone: true},
		{name: "another one has its name", gone: true, again: true, conflict: true},
	} {
		for _, unchanged := range []bool{false, true} {
			server := fakecluster.New(nil)
			client, err := kubernetes.NewForConfig(server.Config("controller"))
			if err != nil {
				t.Fatal(err)
			}
			pods, none := client.CoreV1().Pods("shop"), int64(0)
			made := func() *corev1.Pod {
				pod, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}}}, metav1.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return pod
			}
			pod := made()
			if test.changed {
				_, err = pods.Patch(t.Context(), "web-0", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
			}
			if test.gone {
				err = pods.Delete(t.Context(), "web-0", metav1.DeleteOptions{GracePeriodSeconds: &none})
			}
			if err != nil {
				t.Fatal(err)
			}
			if test.again {
				made()
			}
			remove, want, conflict := Pods(client).Delete, test.any, false
			if unchanged {
				remove, want, conflict = Pods(client).DeleteUnchanged, test.unchanged, test.conflict
			}
			version, err := remove(t.Context(), pod)
			if (version != "") != want || apierrors.IsConflict(err) != conflict || err != nil && !conflict {
				t.Errorf("%s, unchanged %t: version %q, error %v", test.name, unchanged, version, err)
			}
		}
	}
}
