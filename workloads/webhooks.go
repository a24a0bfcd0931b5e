// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

const (
	create = admissionregistrationv1.Create
	update = admissionregistrationv1.Update
	remove = admissionregistrationv1.Delete
)

// Webhooks returns the admission webhooks of the workload kinds: what a
// MutatingWebhookConfiguration and a ValidatingWebhookConfiguration hold.
// Every call returns new values, which the caller may change.
//
// The server of the webhooks says in the ClientConfig of each how they are reached. It gives the name
// and namespace of the service (whose path is set), or a URL that ends in the
// path, and the certificate authority. The paths are those of
// cloneset.Webhook, statefulset.Webhook, daemonset.Webhook, broadcastjob.Webhook,
// cronjob.Webhook and uniteddeployment.Webhook.
//
// An object that no webhook judges is refused: the failure policy is Fail. The
// requests have no side effects, and may take 10 seconds.
func Webhooks() ([]admissionregistrationv1.MutatingWebhook, []admissionregistrationv1.ValidatingWebhook) {
	const cloneSet, statefulSet = "-apps-kruise-io-v1alpha1-cloneset", "-apps-kruise-io-statefulset"
	const daemonSet = "-apps-kruise-io-v1alpha1-daemonset"
	const broadcastJob = "-apps-kruise-io-v1alpha1-broadcastjob"
	const cronJob = "-apps-kruise-io-v1alpha1-advancedcronjob"
	const unitedDeployment = "-apps-kruise-io-v1alpha1-uniteddeployment"
	cloneSets := manifests.Resource(v1alpha1.GroupName, "clonesets", v1alpha1.SchemeGroupVersion.Version)
	statefulSets := manifests.Resource(v1beta1.GroupName, "statefulsets", v1alpha1.SchemeGroupVersion.Version, v1beta1.SchemeGroupVersion.Version)
	daemonSets := manifests.Resource(v1alpha1.GroupName, "daemonsets", v1alpha1.SchemeGroupVersion.Version)
	broadcastJobs := manifests.Resource(v1alpha1.GroupName, "broadcastjobs", v1alpha1.SchemeGroupVersion.Version)
	cronJobs := manifests.Resource(v1alpha1.GroupName, "advancedcronjobs", v1alpha1.SchemeGroupVersion.Version)
	unitedDeployments := manifests.Resource(v1alpha1.GroupName, "uniteddeployments", v1alpha1.SchemeGroupVersion.Version)
	return []admissionregistrationv1.MutatingWebhook{
			manifests.Mutating("cloneset", "/mutate"+cloneSet, cloneSets, create, update),
			manifests.Mutating("statefulset", "/mutate"+statefulSet, statefulSets, create, update),
			manifests.Mutating("daemonset", "/mutate"+daemonSet, daemonSets, create, update),
			manifests.Mutating("broadcastjob", "/mutate"+broadcastJob, broadcastJobs, create, update),
			manifests.Mutating("advancedcronjob", "/mutate"+cronJob, cronJobs, create, update),
			manifests.Mutating("uniteddeployment", "/mutate"+unitedDeployment, unitedDeployments, create, update),
		}, []admissionregistrationv1.ValidatingWebhook{
			manifests.Validating("cloneset", "/validate"+cloneSet, cloneSets, create, update, remove),
			manifests.Validating("statefulset", "/validate"+statefulSet, statefulSets, create, update, remove),
			manifests.Validating("daemonset", "/validate"+daemonSet, daemonSets, create, update),
			manifests.Validating("broadcastjob", "/validate"+broadcastJob, broadcastJobs, create, update),
			manifests.Validating("advancedcronjob", "/validate"+cronJob, cronJobs, create, update),
			manifests.Validating("uniteddeployment", "/validate"+unitedDeployment, unitedDeployments, create, update, remove),
		}
}
