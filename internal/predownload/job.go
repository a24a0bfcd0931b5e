// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/revision"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// What IP-30 says about every job.
const (
	defaultParallelism    = 1
	defaultTimeoutSeconds = 300
	backoffLimit          = 1
	ttlSeconds            = 600
)

// pull is an image that a pod needs, and what stands for it in the name of a job.
type pull struct{ name, image string }

// volumeSuffix is behind the name of a volume, which may be that of a container too. Names of containers have no dots.
const volumeSuffix = ".volume"

// pulls returns the images of containers and of volumes. Init containers run once, before the others; by contract
// their images are not pulled ahead.
func pulls(template *corev1.PodTemplateSpec) (all []pull) {
	for i := range template.Spec.Containers {
		all = append(all, pull{template.Spec.Containers[i].Name, template.Spec.Containers[i].Image})
	}
	for i := range template.Spec.Volumes {
		if volume := &template.Spec.Volumes[i]; volume.Image != nil {
			all = append(all, pull{volume.Name + volumeSuffix, volume.Image.Reference})
		}
	}
	return all
}

// jobs makes a job per image of a container or volume that some pods do not have yet. The
// error says that the selector is missing or the revision cannot be read. (IP-30)
func (in *Input) jobs() ([]*distributionv1alpha1.ImagePullJob, error) {
	if in.selector == nil {
		return nil, errors.New("spec.selector: is missing; the nodes to pull to are those of the pods that it selects")
	}
	template, err := revision.Template(in.to.Data.Raw)
	if err != nil {
		return nil, fmt.Errorf("ControllerRevision %s/%s: %w", in.to.Namespace, in.to.Name, err)
	}
	before := in.imagesBefore()
	var jobs []*distributionv1alpha1.ImagePullJob
	for _, wanted := range pulls(template) {
		for _, images := range before {
			if wanted.image != "" && images[wanted.name] != wanted.image {
				jobs = append(jobs, in.job(template, wanted))
				break
			}
		}
	}
	return jobs, nil
}

// imagesBefore returns the images of the revisions From by the names of pulls. One
// that cannot be read is passed over.
func (in *Input) imagesBefore() []map[string]string {
	var all []map[string]string
	for _, from := range in.From {
		template, err := revision.Template(from.Data.Raw)
		if err != nil {
			continue
		}
		images := map[string]string{}
		for _, had := range pulls(template) {
			images[had.name] = had.image
		}
		all = append(all, images)
	}
	return all
}

// job makes the job that pulls one image to the nodes that run pods of other
// revisions.
func (in *Input) job(template *corev1.PodTemplateSpec, wanted pull) *distributionv1alpha1.ImagePullJob {
	job := &distributionv1alpha1.ImagePullJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       in.workload.GetNamespace(),
			Name:            jobName(in.to.Name, wanted.name),
			Labels:          jobLabels(template.Labels, in.to),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(in.workload, in.kind)},
		},
		Spec: distributionv1alpha1.ImagePullJobSpec{
			Image:       wanted.image,
			PullSecrets: pullSecrets(template),
			PodSelector: otherPods(in.selector, in.to.Name),
			Parallelism: ptr.To(intstr.FromInt32(in.number(inplacev1alpha1.PreDownloadParallelismAnnotation, 0, defaultParallelism))),
			PullPolicy: &distributionv1alpha1.PullPolicy{
				TimeoutSeconds: ptr.To(in.number(inplacev1alpha1.PreDownloadTimeoutSecondsAnnotation, 1, defaultTimeoutSeconds)),
				BackoffLimit:   ptr.To[int32](backoffLimit),
			},
			CompletionPolicy: distributionv1alpha1.CompletionPolicy{
				Type: distributionv1alpha1.Always, TTLSecondsAfterFinished: ptr.To[int32](ttlSeconds),
			},
		},
	}
	if in.SandboxConfig {
		job.Spec.SandboxConfig = &distributionv1alpha1.SandboxConfig{Labels: job.Labels, Annotations: maps.Clone(template.Annotations)}
	}
	return job
}

// number reads an annotation of the workload. What is no integer, or less than
// the least one that makes sense, is the default.
func (in *Input) number(annotation string, least, byDefault int32) int32 {
	n, err := strconv.ParseInt(in.workload.GetAnnotations()[annotation], 10, 32)
	if err != nil || int32(n) < least {
		return byDefault
	}
	return int32(n)
}

// jobName is the name of the revision and that of the pull. If that is too
// long, the workload's part of the revision name gives way: its hash keeps the
// jobs of two revisions apart.
func jobName(revisionName, pull string) string {
	suffix := "-" + pull
	if excess := len(revisionName) + len(suffix) - validation.DNS1123SubdomainMaxLength; excess > 0 {
		hash := revision.ShortHash(revisionName)
		workload := strings.TrimSuffix(revisionName, "-"+hash)
		workload = strings.TrimRight(workload[:max(len(workload)-excess, 0)], "-.")
		return workload + "-" + hash + suffix
	}
	return revisionName + suffix
}

func jobLabels(template map[string]string, r *appsv1.ControllerRevision) map[string]string {
	labels := make(map[string]string, len(template)+1)
	maps.Copy(labels, template)
	labels[revision.HashLabel] = r.Labels[revision.HashLabel]
	if labels[revision.HashLabel] == "" {
		labels[revision.HashLabel] = revision.ShortHash(r.Name)
	}
	return labels
}

func pullSecrets(template *corev1.PodTemplateSpec) (names []string) {
	for _, secret := range template.Spec.ImagePullSecrets {
		if secret.Name != "" {
			names = append(names, secret.Name)
		}
	}
	return names
}

// otherPods selects the pods of the workload that are not at the revision,
// whichever way the label names it.
func otherPods(selector *metav1.LabelSelector, revisionName string) *metav1.LabelSelector {
	var values []string
	if len(revisionName) <= validation.LabelValueMaxLength {
		values = append(values, revisionName)
	}
	if short := revision.ShortHash(revisionName); short != revisionName || len(values) == 0 {
		values = append(values, short)
	}
	others := selector.DeepCopy()
	others.MatchExpressions = append(others.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: appsv1.ControllerRevisionHashLabelKey, Operator: metav1.LabelSelectorOpNotIn, Values: values,
	})
	return others
}
