// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// planTasks takes away the tasks that no job needs any more. (IMG-2.3)
func (p *planner) planTasks() {
	changed := false
	p.spec.Images = make(map[string]v1alpha1.ImageSpec, len(p.NodeImage.Spec.Images))
	for _, name := range slices.Sorted(maps.Keys(p.NodeImage.Spec.Images)) {
		image := p.NodeImage.Spec.Images[name]
		tags, touched := p.keep(name, image.Tags)
		secrets := p.needed(image.PullSecrets, image.Tags, tags)
		changed = changed || touched || len(tags) == 0 || len(secrets) < len(image.PullSecrets)
		image.PullSecrets = secrets
		if image.Tags = tags; len(tags) > 0 {
			p.spec.Images[name] = image
		}
	}
	if changed {
		p.plan.Change = &Change{Labels: p.NodeImage.Labels, Spec: p.spec}
	}
}

// keep returns the tasks of an image that stay, without owners that are gone,
// and whether that is another list than before.
func (p *planner) keep(name string, tags []v1alpha1.ImageTagSpec) (kept []v1alpha1.ImageTagSpec, touched bool) {
	for _, task := range tags {
		owners := p.present(task.OwnerReferences)
		reason := p.needless(name, &task, owners)
		if reason != "" {
			p.plan.Dropped = append(p.plan.Dropped, Dropped{name, task.Tag, reason})
			touched = true
			continue
		}
		if len(owners) < len(task.OwnerReferences) {
			task.OwnerReferences, touched = owners, true
		}
		kept = append(kept, task)
	}
	return kept, touched
}

// needed returns the references to pull secrets of an image without those that no job names. It judges those of the
// namespaces of its jobs, also of jobs that have gone. What a tag without owners uses was written by hand, and stays, and so
// do references of the mode batch. (IMG-2.3, IMG-1.16)
func (p *planner) needed(refs []v1alpha1.ReferenceObject, before, after []v1alpha1.ImageTagSpec) (left []v1alpha1.ReferenceObject) {
	namespaces := map[string]bool{} // of jobs
	named := map[types.NamespacedName]bool{}
	for i := range before {
		for _, owner := range before[i].OwnerReferences {
			namespaces[owner.Namespace] = true
		}
	}
	for i := range after {
		if len(after[i].OwnerReferences) == 0 {
			return refs
		}
		for _, owner := range after[i].OwnerReferences {
			job := p.Jobs[owner.UID]
			if job == nil {
				return refs // what is no job says nothing of its secrets
			}
			for _, name := range job.Spec.PullSecrets {
				source := types.NamespacedName{Namespace: job.Namespace, Name: name}
				named[source] = true
				if copied, fits := images.CopyName(source); fits {
					named[types.NamespacedName{Namespace: v1alpha1.DaemonConfigNamespace, Name: copied}] = true
				}
			}
		}
	}
	for _, ref := range refs {
		of := false
		for namespace := range namespaces {
			_, its := images.ReferenceSource(ref, namespace)
			of = of || its
		}
		if named[images.Referred(ref)] || !of || ref.Mode == v1alpha1.PullSecretModeBatch {
			left = append(left, ref)
		}
	}
	return left
}

// present returns the owners that have not gone. What is no job is taken to be
// there.
func (p *planner) present(owners []corev1.ObjectReference) (present []corev1.ObjectReference) {
	for _, owner := range owners {
		if _, isJob := images.TaskJob(owner); isJob && p.Jobs[owner.UID] == nil {
			if !slices.ContainsFunc(p.plan.Gone, func(o corev1.ObjectReference) bool { return o.UID == owner.UID }) {
				p.plan.Gone = append(p.plan.Gone, owner)
			}
			continue
		}
		present = append(present, owner)
	}
	return present
}

// needless says why a task can go; empty if it has to stay.
func (p *planner) needless(name string, task *v1alpha1.ImageTagSpec, owners []corev1.ObjectReference) string {
	if task.CreatedAt == nil {
		return "it does not say when it was given (createdAt)"
	}
	if len(task.OwnerReferences) > 0 && len(owners) == 0 {
		return "the jobs that asked for it are gone: " + strings.Join(names(task.OwnerReferences), ", ")
	}
	status := images.StatusOf(p.NodeImage, name, task.Tag)
	if status == nil || status.Version != task.Version || status.CompletionTime == nil ||
		task.PullPolicy == nil || task.PullPolicy.TTLSecondsAfterFinished == nil || p.counted(name, task, owners) {
		return ""
	}
	ttl := time.Duration(*task.PullPolicy.TTLSecondsAfterFinished) * time.Second
	if until := status.CompletionTime.Add(ttl); until.After(p.Now) {
		p.requeueAt(until)
		return ""
	}
	return fmt.Sprintf("it finished more than %d s ago (ttlSecondsAfterFinished)", *task.PullPolicy.TTLSecondsAfterFinished)
}

// counted tells whether a job that is not over yet counts the node by this
// task. Without it the node would pull again, and the job might never end.
func (p *planner) counted(name string, task *v1alpha1.ImageTagSpec, owners []corev1.ObjectReference) bool {
	return slices.ContainsFunc(owners, func(owner corev1.ObjectReference) bool {
		job := p.Jobs[owner.UID]
		if job == nil || job.Status.CompletionTime != nil || job.DeletionTimestamp != nil ||
			job.Spec.CompletionPolicy.Type == v1alpha1.Never {
			return false
		}
		image, err := images.ParseReference(job.Spec.Image)
		return err == nil && image.Name() == name && image.Version() == task.Tag
	})
}

func names(owners []corev1.ObjectReference) []string {
	names := make([]string, len(owners))
	for i, owner := range owners {
		names[i] = types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name}.String()
	}
	return names
}
