// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
)

// cronJobs finds cron jobs that do not see that their jobs have ended. (OpenKruise 1.7 to 1.9)
func (c *check) cronJobs() {
	for _, cron := range c.Objects[crons] {
		if before(c.release, "1.7") {
			return
		}
		var ended []string
		for _, active := range objects(cron.Object, "status", "active") {
			if name := text(active, "name"); text(active, "kind") == "Job" && !c.runs(cron.GetNamespace(), name) {
				ended = append(ended, name)
			}
		}
		if len(ended) > 0 && text(cron.Object, "spec", "concurrencyPolicy") == "Forbid" {
			c.stuck(title(cron), "ACJ-12.1", "OpenKruise counts "+few(ended)+" as active, which has ended: a missed time is not run until the next one.",
				"Nothing: podwright sees that. If a missed time is not to run, pause it before the move.")
		}
		if c.release == "1.9" {
			c.olderChildren(cron)
		}
	}
}

// olderChildren finds jobs that 1.9 does not see, since 1.8 or earlier has made them.
func (c *check) olderChildren(cron *unstructured.Unstructured) {
	var older []string
	for _, job := range c.Objects[onNodes] {
		for _, owner := range job.GetOwnerReferences() {
			if owner.UID == cron.GetUID() && owner.APIVersion == apps+"/v1alpha1" {
				older = append(older, job.GetName())
			}
		}
	}
	if len(older) > 0 {
		c.stuck(title(cron), "ACJ-1", "OpenKruise 1.9 does not see "+few(older)+", made by an earlier release, and tries to run their times again.",
			"Nothing: podwright finds jobs by the UID of their owner.")
	}
}

// runs tells whether there is a Job that has not ended.
func (c *check) runs(namespace, name string) bool {
	return slices.ContainsFunc(c.Children, func(job *unstructured.Unstructured) bool {
		return job.GetNamespace() == namespace && job.GetName() == name && condition(job, "Complete") != "True" && condition(job, "Failed") != "True"
	})
}

// over tells whether a job for images has ended.
func over(job *unstructured.Unstructured) bool { return has(job.Object, "status", "completionTime") }

// imageJobs finds jobs for images that never begin or never end, and asks for the namespace that they need.
func (c *check) imageJobs() {
	secrets := 0
	for _, job := range c.Objects[pulls] {
		secrets += len(strs(job.Object, "spec", "pullSecrets"))
		if percent := text(job.Object, "spec", "parallelism"); strings.HasSuffix(percent, "%") && !over(job) {
			c.stuck(title(job), "IMG-1.4", "Its parallelism of "+percent+" means 0 to OpenKruise: no node pulls.", "Nothing: it begins. If it is not to, delete it.")
		}
	}
	for _, job := range c.Objects[lists] {
		secrets += len(strs(job.Object, "spec", "pullSecrets"))
		if ttl, said := number(job.Object, "spec", "completionPolicy", "ttlSecondsAfterFinished"); said && !over(job) {
			c.stuck(title(job), "ILP-5", fmt.Sprintf("OpenKruise deletes its jobs %d s after each ends, and makes them again while others pull.", ttl),
				"Nothing: podwright's have no such time of their own.")
		}
	}
	if secrets > 0 && !c.Namespaces[copiesNamespace] && len(c.Namespaces) > 0 {
		c.answer("Namespace "+copiesNamespace, "IMG-1.6", "It is missing, and jobs have pull secrets, which are copied there.", "Create it.")
	}
}

// secrets says which copies of pull secrets go: those that no job needs.
func (c *check) secrets() {
	wanted := map[string]bool{}
	for _, job := range c.Objects[pulls] {
		wanted[key(job)] = !over(job) && job.GetDeletionTimestamp() == nil
	}
	var left []string
	for _, copied := range c.Copies {
		references := strings.Split(copied.Annotations[distributionv1alpha1.PullSecretReferencesAnnotation], ",")
		if !slices.ContainsFunc(references, func(job string) bool { return wanted[strings.TrimSpace(job)] }) {
			left = append(left, copied.Name)
		}
	}
	if len(left) > 0 {
		c.happens("Namespace "+copiesNamespace, "IMG-1.15", "podwright deletes copies of pull secrets that no job needs: "+few(left)+".")
	}
}
