// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestAdmissionCaches: before they are filled no caller is told that there are no SidecarSets,
// and then they know what there is.
func TestAdmissionCaches(t *testing.T) {
	configMaps := fakecluster.Resource{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Name: "configmaps", Type: func() any { return &corev1.ConfigMap{} }}
	var c *fixture.Cluster
	fixture.Play(t, setResource, func(f *fixture.Cluster) { c = f }, func(t *testing.T) {
		prepare(c)
		c.Create(newSet(t, "web", "{}"), "")
		for namespace, name := range map[string]string{DefaultRevisionNamespace: "web-1", "default": "web-2"} {
			r := newRevision(name)
			_, err := c.Kube.AppsV1().ControllerRevisions(namespace).Create(t.Context(), r, metav1.CreateOptions{})
			c.Must(err)
		}
		caches, err := NewAdmissionCaches(AdmissionOptions{Kubernetes: c.Client(fixture.ControllerUser), Sidecar: connect(c, fixture.ControllerUser)})
		c.Must(err)

		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := caches.SidecarSetsFor(hasty, "default", map[string]string{"app": "web"}); err == nil || !strings.Contains(err.Error(), "not filled yet") {
			t.Errorf("before they run: error %v", err)
		}
		defer c.Start(caches.Run)()

		var got []string
		note := func(what string, names []string, err error) {
			c.Must(err)
			got = append(got, what+": "+strings.Join(names, " "))
		}
		sets, err := caches.SidecarSets(t.Context())
		note("all", namesOf(sets), err)
		sets, err = caches.SidecarSetsFor(t.Context(), "default", map[string]string{"app": "web"})
		note("for web", namesOf(sets), err)
		sets, err = caches.SidecarSetsFor(t.Context(), "default", map[string]string{"app": "db"})
		note("for db", namesOf(sets), err)
		revisions, err := caches.Revisions(t.Context(), "web")
		note("revisions", namesOf(revisions), err)
		revisions, err = caches.Revisions(t.Context(), "we")
		note("revisions of another", namesOf(revisions), err)
		for _, name := range []string{"default", "gone"} {
			namespace, err := caches.Namespace(t.Context(), name)
			note("namespace "+name, namesOf([]*corev1.Namespace{namespace}), err)
		}
		config, err := caches.Configuration(t.Context())
		note("list", namesOf([]*corev1.ConfigMap{config}), err)
		_, err = c.Kube.CoreV1().ConfigMaps(DefaultRevisionNamespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: whitelistConfigMap}}, metav1.CreateOptions{})
		c.Must(err)
		config, err = caches.Configuration(t.Context())
		note("list", namesOf([]*corev1.ConfigMap{config}), err)
		want := []string{"all: web", "for web: web", "for db: ", "revisions: web-1", "revisions of another: ", "namespace default: default", "namespace gone: ", "list: ", "list: " + whitelistConfigMap}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("what they know (-want +got):\n%s", diff)
		}
		c.Sleep("1s")
	}, namespaceResource, configMaps)
	if _, err := NewAdmissionCaches(AdmissionOptions{}); err == nil || !strings.Contains(err.Error(), "Options.Sidecar is nil") || !strings.Contains(err.Error(), "Options.Kubernetes is nil") {
		t.Errorf("without clients: error %v", err)
	}
}

// newRevision is one that the SidecarSet web has.
func newRevision(name string) *appsv1.ControllerRevision {
	r := &appsv1.ControllerRevision{}
	r.Name, r.Labels = name, map[string]string{v1alpha1.SidecarSetNameLabel: "web"}
	return r
}

// namesOf names objects; nil ones have no name.
func namesOf[T any, O interface {
	*T
	metav1.Object
}](objects []O) (names []string) {
	for _, o := range objects {
		if o != nil {
			names = append(names, o.GetName())
		}
	}
	return names
}
