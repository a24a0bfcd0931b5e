// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestDefaultsAreStored(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	given := cloneSet("web", 0)
	given.Spec.Replicas = nil
	given.Spec.UpdateStrategy.Type = inPlace
	given.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "setup:1"}, {Name: "newest", Image: "setup"}}
	s.create(given)
	stored := s.set("web").Spec
	want := v1alpha1.CloneSetSpec{
		Replicas:             new(int32(1)),
		RevisionHistoryLimit: new(int32(10)),
		UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{
			Type:                  inPlace,
			Partition:             new(intstr.FromInt32(0)),
			MaxUnavailable:        new(intstr.FromString("20%")),
			MaxSurge:              new(intstr.FromInt32(0)),
			InPlaceUpdateStrategy: &inplacev1alpha1.InPlaceUpdateStrategy{},
		},
		Selector: stored.Selector, Template: stored.Template,
	}
	if diff := cmp.Diff(want, stored); diff != "" {
		s.Errorf("the defaults of the spec (-expected +observed):\n%s", diff)
	}
	template := stored.Template.Spec
	pulls := map[string]corev1.PullPolicy{}
	for _, container := range append(template.InitContainers, template.Containers...) {
		pulls[container.Name] = container.ImagePullPolicy
	}
	if diff := cmp.Diff(map[string]corev1.PullPolicy{"setup": "IfNotPresent", "newest": "Always", "main": "Always", "side": "Always"}, pulls); diff != "" {
		s.Errorf("imagePullPolicy of the containers (-expected +observed):\n%s", diff)
	}
	if template.RestartPolicy != corev1.RestartPolicyAlways || template.DNSPolicy != corev1.DNSClusterFirst ||
		template.Containers[0].TerminationMessagePath != corev1.TerminationMessagePathDefault || template.SchedulerName != corev1.DefaultSchedulerName {
		s.Errorf("expected the defaults of a pod in the template, observed %+v", template)
	}
}

// A CloneSet that is stored without defaults does not get a new template by any other change: that would start a rollout.
func TestSavingWithoutChangeRollsNothing(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 2))
	before, revision := s.owned("web"), s.set("web").Status.UpdateRevision
	s.edit("web", func(set *v1alpha1.CloneSet) { set.Spec.MinReadySeconds = 1 }, replicas(3))
	s.awaitSettled("web")
	if got := s.set("web").Status.UpdateRevision; got != revision || len(s.Revisions.All()) != 1 {
		s.Errorf("expected the revision %s alone, observed %s and %v", revision, got, testbed.Names(s.Revisions.All()))
	}
	s.deletedOnly()
	s.created(len(before) + 1)
}

// refused fails unless the API server has answered 422 and named the field.
func (s *fixture[T]) refused(what string, err error, field string) {
	s.Helper()
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Code != http.StatusUnprocessableEntity {
		s.Errorf("%s: expected code 422 and %s, observed %v", what, field, err)
		return
	}
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			if cause.Field == field {
				return
			}
		}
	}
	if !strings.Contains(err.Error(), field) {
		s.Errorf("%s: expected a cause for %s, observed %v", what, field, err)
	}
}

// dryRun asks for a dry run of a case if only the API server's own verdict on the template can refuse the workload.
// That verdict may come too late, so that a real write is let through.
func dryRun(name string) []string {
	if strings.HasPrefix(name, "template, dry run") {
		return []string{metav1.DryRunAll}
	}
	return nil
}

func TestWrongCloneSetsAreRefused(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	for _, test := range []struct {
		name, field string
		wrong       func(*v1alpha1.CloneSet)
	}{
		{"CS-E17: partition without %", "spec.updateStrategy.partition", func(set *v1alpha1.CloneSet) {
			set.Spec.UpdateStrategy.Partition = new(intstr.FromString("50"))
		}},
		{"negative partition", "spec.updateStrategy.partition", partition("-1")},
		{"negative replicas", "spec.replicas", replicas(-1)},
		{"selector does not match the template", "spec.template.metadata.labels", func(set *v1alpha1.CloneSet) {
			set.Spec.Template.Labels = map[string]string{"app": "another"}
		}},
		{"neither surge nor unavailability", "spec.updateStrategy.maxUnavailable", strategy(reCreate, 0)},
		{"InPlaceOnly with surge", "spec.updateStrategy.maxSurge", func(set *v1alpha1.CloneSet) {
			set.Spec.UpdateStrategy.Type = onlyInside
			set.Spec.UpdateStrategy.MaxSurge = new(intstr.FromInt32(1))
		}},
		{"the same scatter term twice", "spec.updateStrategy.scatterStrategy[1]", func(set *v1alpha1.CloneSet) {
			set.Spec.UpdateStrategy.ScatterStrategy = inplacev1alpha1.UpdateScatterStrategy{{Key: "a", Value: "b"}, {Key: "a", Value: "b"}}
		}},
		{"restartPolicy", "spec.template.spec.restartPolicy", func(set *v1alpha1.CloneSet) {
			set.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		}},
		{"activeDeadlineSeconds", "spec.template.spec.activeDeadlineSeconds", func(set *v1alpha1.CloneSet) {
			set.Spec.Template.Spec.ActiveDeadlineSeconds = new(int64(5))
		}},
		{"template, dry run: no image", "spec.template.spec.containers[0].image", image("")},
		{"template, dry run: two containers of one name", "spec.template.spec.containers[1].name", func(set *v1alpha1.CloneSet) {
			set.Spec.Template.Spec.Containers[1].Name = "main"
		}},
		{"template, dry run: unknown volume", "spec.template.spec.containers[0].volumeMounts[0].name", func(set *v1alpha1.CloneSet) {
			set.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "none", MountPath: "/data"}}
		}},
		{"template, dry run: wrong annotation key", "spec.template.metadata.annotations", func(set *v1alpha1.CloneSet) {
			set.Spec.Template.Annotations = map[string]string{"not a key": "x"}
		}},
		{"podsToDelete of a new set", "spec.scaleStrategy.podsToDelete[0]", podsToDelete("any")},
	} {
		_, err := s.workloads.CloneSets(s.Namespace).Create(s.Context(), cloneSet("wrong", 2, test.wrong), metav1.CreateOptions{DryRun: dryRun(test.name)})
		s.refused("create, "+test.name, err, test.field)
	}
	// A volume that only a claim template gives is no mistake.
	s.create(cloneSet("right", 0, claimTemplate("data")))
}

func TestWrongChangesAreRefused(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 2, func(set *v1alpha1.CloneSet) { set.Spec.UpdateStrategy.Type = onlyInside }))
	s.run(cloneSet("other", 1))
	foreign := s.owned("other")[0].Name
	own := s.owned("web")[0].Name
	orphan := s.Orphan("orphan", map[string]string{"app": "web"}).Name
	for _, test := range []struct {
		name, field string
		wrong       func(*v1alpha1.CloneSet)
	}{
		{"the selector is immutable", "spec.selector", func(set *v1alpha1.CloneSet) {
			set.Spec.Selector.MatchLabels = map[string]string{"app": "next"}
			set.Spec.Template.Labels = map[string]string{"app": "next"}
		}},
		{"podsToDelete: a pod of another CloneSet", "spec.scaleStrategy.podsToDelete[0]", podsToDelete(foreign)},
		{"podsToDelete: a pod without owner", "spec.scaleStrategy.podsToDelete[0]", podsToDelete(orphan)},
		{"CS-E9: podsToDelete: no pod", "spec.scaleStrategy.podsToDelete[0]", podsToDelete("none")},
		{"podsToDelete: twice the same", "spec.scaleStrategy.podsToDelete[1]", podsToDelete(own, own)},
		{"InPlaceOnly: a changed env", "spec.template.spec", func(set *v1alpha1.CloneSet) {
			set.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "MODE", Value: "fast"}}
		}},
		{"InPlaceOnly: another container", "spec.template.spec", func(set *v1alpha1.CloneSet) {
			set.Spec.Template.Spec.Containers = append(set.Spec.Template.Spec.Containers, corev1.Container{Name: "third", Image: "x:1"})
		}},
		{"template, dry run: no image", "spec.template.spec.containers[0].image", image("")},
	} {
		s.refused("update, "+test.name, s.tryUpdate("web", metav1.UpdateOptions{DryRun: dryRun(test.name)}, test.wrong), test.field)
	}
	if stored := s.set("web"); stored.Generation != 1 {
		s.Errorf("expected nothing to be changed, observed generation %d: %+v", stored.Generation, stored.Spec)
	}
	s.deletedOnly()
	s.edit("web", image("web:2")) // an image may change
	s.awaitSettled("web")
	s.restarted("web", "main", "web:2", 1)
}

func TestDeletionProtection(t *testing.T) {
	t.Parallel()
	const label = "policy.kruise.io/delete-protection"
	s := newCloneSetFixture(t)
	for _, test := range []struct {
		value string
		edit  func(*v1alpha1.CloneSet)
	}{
		{"Always", func(set *v1alpha1.CloneSet) { delete(set.Labels, label) }},
		{"Cascading", replicas(0)},
	} {
		name := strings.ToLower(test.value)
		s.run(cloneSet(name, 1, func(set *v1alpha1.CloneSet) { set.Labels = map[string]string{label: test.value} }))
		sets := s.workloads.CloneSets(s.Namespace)
		err := sets.Delete(s.Context(), name, metav1.DeleteOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), label) {
			s.Errorf("delete with %s=%s: expected 403 that names the label, observed %v", label, test.value, err)
		}
		if set := s.set(name); set.DeletionTimestamp != nil {
			s.Errorf("delete with %s=%s: expected the CloneSet to stay, observed that it is being deleted", label, test.value)
		}
		s.edit(name, test.edit)
		if err := sets.Delete(s.Context(), name, metav1.DeleteOptions{}); err != nil {
			s.Errorf("delete after the protection is lifted: expected no error, observed %v", err)
		}
	}
}
