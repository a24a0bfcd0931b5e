// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func workloadKinds() []kind { return []kind{cloneSets(), statefulSets()} }

var (
	cloneSetsResource    = v1alpha1.SchemeGroupVersion.WithResource("clonesets")
	statefulSetsResource = v1beta1.SchemeGroupVersion.WithResource("statefulsets")
)

func cloneSets() kind {
	var options cloneset.Options
	return kind{
		flags: func(f *pflag.FlagSet) {
			f.IntVar(&options.Workers, "cloneset-workers", 3, "CloneSets reconciled at the same time")
			f.BoolVar(&options.Features.ExcludePreparingDelete, "cloneset-scaling-exclude-preparing-delete", false, "do not count pods that prepare for their deletion as replicas")
		},
		controller: "cloneset-controller",
		resource:   cloneSetsResource,
		compose: func(ctx context.Context, p *parts) (_ made, err error) {
			o := options
			o.Kubernetes, o.Workloads, o.Namespace, o.Recorder, o.Metrics = p.kubernetes, p.workloads, p.namespace, p.recorder, reconciles
			o.CloneSets, o.Pods, o.Claims, o.Revisions, o.Nodes = p.caches.cloneSets(), p.caches.pods(), p.caches.claims(), p.caches.revisions(), p.caches.nodes()
			o.Features.ShortHash = p.gates.Enabled(features.CloneSetShortHash)
			o.Features.PartitionRollback = p.gates.Enabled(features.CloneSetPartitionRollback)
			o.Features.NoEnvFromMetadata = !p.gates.Enabled(features.InPlaceUpdateEnvFromMetadata)
			o.Features.LaunchPriority = p.gates.Enabled(features.PodWebhook)
			if o.Jobs, err = p.imagePullJobs(ctx); err != nil {
				return made{}, err
			}
			o.Features.PreDownload = o.Jobs != nil
			return of(o, cloneset.New, cloneset.Rules), nil
		},
		webhook: func(k kubernetes.Interface, gates featuregate.FeatureGate) webhook {
			return &cloneset.Webhook{
				TemplateNoDefaults:        gates.Enabled(features.TemplateNoDefaults),
				DisableDeletionProtection: !gates.Enabled(features.ResourcesDeletionProtection),
				Pods:                      podGetter(k),
				Templates:                 workloads.DryRun(k.CoreV1()),
			}
		},
	}
}

func statefulSets() kind {
	var options statefulset.Options
	return kind{
		flags: func(f *pflag.FlagSet) {
			f.IntVar(&options.Workers, "statefulset-workers", 3, "StatefulSets reconciled at the same time")
		},
		controller: "statefulset-controller",
		resource:   statefulSetsResource,
		compose: func(ctx context.Context, p *parts) (_ made, err error) {
			o := options
			o.Kubernetes, o.Workloads, o.Namespace, o.Recorder, o.Metrics = p.kubernetes, p.workloads, p.namespace, p.recorder, reconciles
			o.StatefulSets, o.Pods, o.Claims, o.Revisions = p.caches.statefulSets(), p.caches.pods(), p.caches.claims(), p.caches.revisions()
			o.Features.NoAutoDeleteClaims = !p.gates.Enabled(features.StatefulSetAutoDeletePVC)
			o.Features.NoEnvFromMetadata = !p.gates.Enabled(features.InPlaceUpdateEnvFromMetadata)
			o.Features.LaunchPriority = p.gates.Enabled(features.PodWebhook)
			if o.Jobs, err = p.imagePullJobs(ctx); err != nil {
				return made{}, err
			}
			o.Features.PreDownload = o.Jobs != nil
			return of(o, statefulset.New, statefulset.Rules), nil
		},
		webhook: func(k kubernetes.Interface, gates featuregate.FeatureGate) webhook {
			return &statefulset.Webhook{
				TemplateNoDefaults:        gates.Enabled(features.TemplateNoDefaults),
				DisableDeletionProtection: !gates.Enabled(features.ResourcesDeletionProtection),
				Templates:                 workloads.DryRun(k.CoreV1()),
			}
		},
	}
}

// imagePullJobs returns what pulls images ahead of an in-place update; the workloads all ask for the same methods. It
// returns nil where the gate is off or ImagePullJobs are not served: that must not keep workloads from working.
func (p *parts) imagePullJobs(ctx context.Context) (workloads.ImagePullJobs, error) {
	if !p.gates.Enabled(features.PreDownloadImageForInPlaceUpdate) {
		return nil, nil
	}
	served, err := p.served(ctx, imagePullJobsResource)
	if err != nil || !served {
		klog.FromContext(ctx).Info("No images are pulled ahead of updates until the next start, because the CRD is not installed", "crd", imagePullJobsResource.GroupResource())
		return nil, err
	}
	p.synced = append(p.synced, p.caches.imagePullJobs().HasSynced)
	return workloads.NewImagePullJobs(p.distribution, p.caches.imagePullJobs())
}

func (c *caches) cloneSets() cache.SharedIndexInformer {
	return c.InformerFor(&v1alpha1.CloneSet{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return client.NewCloneSetInformer(c.workloads, c.namespace, 0, cache.Indexers{})
	})
}

func (c *caches) statefulSets() cache.SharedIndexInformer {
	return c.InformerFor(&v1beta1.StatefulSet{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return client.NewStatefulSetInformer(c.workloads, c.namespace, 0, cache.Indexers{})
	})
}

// podGetter asks for pods one by one: they matter only to the rare change of podsToDelete and to new
// ContainerRecreateRequests, which need the newest state, so replicas that do not lead keep no cache of pods.
func podGetter(k kubernetes.Interface) func(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	return func(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
		return k.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	}
}
