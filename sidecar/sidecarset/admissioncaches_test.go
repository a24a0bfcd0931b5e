// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var (
	_ podwebhook.Step = (*CachedInjector)(nil)
	_ AdmissionReader = (*CachedInjector)(nil)
)

// newInjector makes an injector whose caches do not run yet, and counts changes of its expression. (SCS-W9)
func (c *cluster) newInjector(counting ...string) string {
	o := AdmissionOptions{Kubernetes: c.Client(fixture.ControllerUser), Sidecar: connect(c.Cluster, fixture.ControllerUser)}
	if counting != nil {
		o.MatchExpression = func(sets []*v1alpha1.SidecarSet) string { return fmt.Sprint(len(sets), " SidecarSets") }
	}
	injector, err := NewCachedInjector(o)
	c.Must(err)
	c.Must(injector.OnMatchChange(func() { c.changes++ }))
	c.injector, c.changes = injector, 0
	return ""
}

// waitASecond is a context of a request that does not wait for long.
func (c *cluster) waitASecond() context.Context {
	ctx, cancel := context.WithTimeout(c.T.Context(), time.Second)
	c.T.Cleanup(cancel)
	return ctx
}

// knows shows what the caches know of pods of a namespace, and of the objects of some names. Before they are filled no caller is told that there are
// no SidecarSets.
func (c *cluster) knows(names ...string) string {
	ctx, i, out := c.waitASecond(), c.injector, strings.Builder{}
	show := func(what string, objects []string, err error) {
		slices.Sort(objects)
		text := what + ": " + strings.Join(objects, " ")
		if err != nil {
			text += "error: " + err.Error()
		}
		fmt.Fprintln(&out, strings.TrimSpace(text))
	}
	sets, err := i.SidecarSets(ctx)
	show("all", namesOf(sets), err)
	for _, name := range names {
		sets, err = i.SidecarSetsFor(ctx, "default", map[string]string{"app": name})
		show("for "+name, namesOf(sets), err)
		revisions, err := i.Revisions(ctx, name)
		show("revisions of "+name, namesOf(revisions), err)
		namespace, err := i.Namespace(ctx, name)
		show("namespace "+name, namesOf([]*corev1.Namespace{namespace}), err)
	}
	config, err := i.Configuration(ctx)
	show("list", namesOf([]*corev1.ConfigMap{config}), err)
	return out.String()
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

// expression shows which pods the API server asks about, and how often it was told of a change.
func (c *cluster) expression(...string) string {
	text, err := c.injector.MatchExpression(c.waitASecond())
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	defer func() { c.changes = 0 }()
	return fmt.Sprintf("%d changes: %s\n", c.changes, text)
}

// admit shows what is injected into a pod of an app.
func (c *cluster) admit(app ...string) string {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app[0]}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	c.Must(c.injector.Mutate(c.T.Context(), &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: "default"}, pod))
	return fmt.Sprintln(imagesOf(pod))
}

// Without clients there are no caches.
func TestAdmissionOptions(t *testing.T) {
	_, err := NewCachedInjector(AdmissionOptions{})
	for _, want := range []string{"Options.Sidecar is nil", "Options.Kubernetes is nil"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without clients: error %v, want %s", err, want)
		}
	}
}
