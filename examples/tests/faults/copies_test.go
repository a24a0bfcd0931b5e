// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/faults/invariants"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
)

// targets are the namespaces that ResourceDistributions are for, by the end of their names. In the last one the name is taken.
var targets = []string{"a", "b", "c", "taken"}

var distributedKinds = []string{"ConfigMap", "Secret"}

// target is the name of such a namespace.
func (s *story) target(name string) string { return s.Namespace + "-" + name }

// distributionName is the name of a ResourceDistribution, which is in no namespace.
func (s *story) distributionName(kind string) string {
	return strings.ToLower(kind) + "-" + s.Namespace
}

// value is what is distributed.
func value(kind, text string) string {
	if kind == "Secret" {
		return base64.StdEncoding.EncodeToString([]byte(text))
	}
	return text
}

// distributed is a template; all have the name of the scene.
func (s *story) distributed(kind, text string) runtime.RawExtension {
	return runtime.RawExtension{Raw: fmt.Appendf(nil, `{"apiVersion":"v1","kind":%q,"metadata":{"name":%q},"data":{"key":%q}}`, kind, s.Namespace, value(kind, text))}
}

// strangeCopies creates the namespaces, until the test ends, and what has the name of copies in the last of them.
func (s *story) strangeCopies() (uids []types.UID) {
	s.Helper()
	for _, name := range targets {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.target(name), Labels: map[string]string{s.Namespace: "yes"}}}
		if _, err := bed.Core.CoreV1().Namespaces().Create(s.Context(), namespace, metav1.CreateOptions{}); err != nil {
			s.Fatalf("create namespace %s: %v", namespace.Name, err)
		}
		s.Cleanup(func() {
			_ = bed.Core.CoreV1().Namespaces().Delete(context.Background(), namespace.Name, metav1.DeleteOptions{})
		})
	}
	meta := metav1.ObjectMeta{Name: s.Namespace}
	config, err := bed.Core.CoreV1().ConfigMaps(s.target("taken")).Create(s.Context(), &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"key": "other"}}, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create a stranger: %v", err)
	}
	secret, err := bed.Core.CoreV1().Secrets(s.target("taken")).Create(s.Context(), &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"key": "other"}}, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create a stranger: %v", err)
	}
	return []types.UID{config.UID, secret.UID}
}

// createDistributions creates the ResourceDistributions, until the test ends.
func (s *story) createDistributions() {
	s.Helper()
	namespaces, configs, secrets := bed.Core.CoreV1().Namespaces(), bed.Core.CoreV1().ConfigMaps(""), bed.Core.CoreV1().Secrets("")
	all := distributions.ResourceDistributions()
	s.namespaces = testbed.Follow(s.Scene, mirror.Of(namespaces), invariants.Observe[*corev1.Namespace](s.record))
	s.distributions = testbed.Follow(s.Scene, mirror.Of(all), invariants.Observe[*v1alpha1.ResourceDistribution](s.record))
	s.configs = testbed.Follow(s.Scene, named(s.Namespace, configs.List, configs.Watch), invariants.Observe[*corev1.ConfigMap](s.record))
	s.secrets = testbed.Follow(s.Scene, named(s.Namespace, secrets.List, secrets.Watch), invariants.Observe[*corev1.Secret](s.record))
	for _, kind := range distributedKinds {
		d := &v1alpha1.ResourceDistribution{ObjectMeta: metav1.ObjectMeta{Name: s.distributionName(kind)}}
		d.Spec.Resource = s.distributed(kind, "1")
		d.Spec.Targets.NamespaceLabelSelector.MatchLabels = map[string]string{s.Namespace: "yes"}
		if _, err := all.Create(s.Context(), d, metav1.CreateOptions{}); err != nil {
			s.Fatalf("create ResourceDistribution %s: %v", d.Name, err)
		}
		s.Cleanup(func() { _ = all.Delete(context.Background(), d.Name, metav1.DeleteOptions{}) })
	}
}

// named is the source of the objects of a name, in all namespaces.
func named[L runtime.Object](name string,
	list func(context.Context, metav1.ListOptions) (L, error),
	follow func(context.Context, metav1.ListOptions) (watch.Interface, error)) mirror.Source {
	source := mirror.From(list, follow)
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	return mirror.Source{
		List: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			return source.List(ctx, o)
		},
		Watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			return source.Watch(ctx, o)
		},
	}
}

func (s *story) editDistribution(kind, what string, change func(*v1alpha1.ResourceDistribution)) (version string) {
	s.Helper()
	return edit(s, distributions.ResourceDistributions(), s.distributionName(kind), what, change)
}

// stirDistribution changes what is distributed, its targets, or a copy.
func (s *story) stirDistribution() {
	s.Helper()
	kind, name := distributedKinds[s.random.IntN(len(distributedKinds))], targets[s.random.IntN(len(targets)-1)]
	switch s.random.IntN(8) {
	default:
		text := fmt.Sprint(s.random.IntN(1000))
		s.editDistribution(kind, "distributes "+text, func(d *v1alpha1.ResourceDistribution) { d.Spec.Resource = s.distributed(kind, text) })
	case 0, 1:
		selected := []string{"yes", "no"}[s.random.IntN(2)]
		edit(s, bed.Core.CoreV1().Namespaces(), s.target(name), "selected: "+selected, func(n *corev1.Namespace) {
			n.Labels = maps.Clone(n.Labels)
			n.Labels[s.Namespace] = selected
		})
	case 2:
		excluded := []v1alpha1.ResourceDistributionNamespace{{Name: s.target(name)}}[:s.random.IntN(2)]
		s.editDistribution(kind, fmt.Sprintf("excludes %v", excluded), func(d *v1alpha1.ResourceDistribution) { d.Spec.Targets.ExcludedNamespaces.List = excluded })
	case 3, 4:
		s.harm(kind, name, fmt.Sprintf(`{"data":{"key":%q}}`, value(kind, invariants.Theirs)))
	case 5:
		s.harm(kind, name, fmt.Sprintf(`{"metadata":{"annotations":{%q:"yes"}}}`, invariants.TheirsAnnotation))
		s.user("deletes the "+kind+" of "+name+" if it is marked", func(ctx context.Context) error {
			found, err := s.copies(kind, name).Get(ctx, s.Namespace, metav1.GetOptions{})
			if err != nil || found.GetAnnotations()[invariants.TheirsAnnotation] == "" {
				return err
			}
			return s.copies(kind, name).Delete(ctx, s.Namespace, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(found.GetUID()))})
		})
	}
}

// copies gives the client of the Secrets or ConfigMaps of a target.
func (s *story) copies(kind, name string) dynamic.ResourceInterface {
	return bed.Dynamic.Resource(corev1.SchemeGroupVersion.WithResource(strings.ToLower(kind) + "s")).Namespace(s.target(name))
}

// harm writes into a copy, if there is one.
func (s *story) harm(kind, name, patch string) {
	s.Helper()
	s.user(fmt.Sprintf("writes %s into the %s of %s", patch, kind, name), func(ctx context.Context) error {
		_, err := s.copies(kind, name).Patch(ctx, s.Namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
}

// user does something until the API server has answered. What is not there is left alone.
func (s *story) user(what string, do func(context.Context) error) {
	s.Helper()
	s.AwaitAsking("a user "+what, func() string {
		ctx, cancel := s.within(userPatience)
		defer cancel()
		err := do(ctx)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err.Error()
		}
		s.note("a user %s: %v", what, err)
		return ""
	})
}

// distributionUnsettled: what is wanted of a ResourceDistribution is told by its spec and by the namespaces as they are.
func (s *story) distributionUnsettled(d *v1alpha1.ResourceDistribution) string {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(d.Spec.Resource.Raw, &kind); err != nil {
		return err.Error()
	}
	wanted := int32(0)
	for _, name := range targets {
		namespace, found := s.namespaces.Named(s.target(name))
		excluded := slices.Contains(d.Spec.Targets.ExcludedNamespaces.List, v1alpha1.ResourceDistributionNamespace{Name: s.target(name)})
		is := s.copied(kind.Kind, s.target(name))
		switch want := found && namespace.Labels[s.Namespace] == "yes" && !excluded; {
		case want && name == "taken":
			wanted++
		case want:
			wanted++
			if !strings.Contains(string(d.Spec.Resource.Raw), fmt.Sprintf("%q", is)) {
				return fmt.Sprintf("namespace %s has %q, and should have %s", name, is, d.Spec.Resource.Raw)
			}
		case is != "" && name != "taken":
			return fmt.Sprintf("namespace %s has %q, and should have nothing", name, is)
		}
	}
	if st := d.Status; st.ObservedGeneration != d.Generation || st.Desired != wanted || st.Failed != 1 {
		return fmt.Sprintf("generation %d, %d namespaces, status %+v", d.Generation, wanted, st)
	}
	return ""
}

// copied is the value of a copy as a template has it, empty if there is none.
func (s *story) copied(kind, namespace string) string {
	for _, secret := range s.secrets.All() {
		if kind == "Secret" && secret.Namespace == namespace {
			return value(kind, string(secret.Data["key"]))
		}
	}
	for _, config := range s.configs.All() {
		if kind == "ConfigMap" && config.Namespace == namespace {
			return config.Data["key"]
		}
	}
	return ""
}

// touchDistributions is touch for ResourceDistributions.
func (s *story) touchDistributions() {
	s.Helper()
	for _, kind := range distributedKinds {
		nowhere := v1alpha1.ResourceDistributionNamespace{Name: fmt.Sprint("nowhere-", s.rounds)}
		version := s.editDistribution(kind, "touched", func(d *v1alpha1.ResourceDistribution) {
			d.Spec.Targets.ExcludedNamespaces.List = append(slices.Clone(d.Spec.Targets.ExcludedNamespaces.List), nowhere)
		})
		s.Await("the watch shows that "+s.distributionName(kind)+" is touched", func() string { return s.distributions.Behind(version) })
	}
}

// copiesCaughtUp waits until the watches have shown all copies that were written before.
func (s *story) copiesCaughtUp(patch []byte) {
	s.Helper()
	config, err := bed.Core.CoreV1().ConfigMaps(s.target("taken")).Patch(s.Context(), s.Namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		s.Fatalf("mark a ConfigMap: %v", err)
	}
	secret, err := bed.Core.CoreV1().Secrets(s.target("taken")).Patch(s.Context(), s.Namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		s.Fatalf("mark a Secret: %v", err)
	}
	s.Await("the watches of copies have caught up", func() string {
		return s.configs.Behind(config.ResourceVersion) + s.secrets.Behind(secret.ResourceVersion)
	})
}
