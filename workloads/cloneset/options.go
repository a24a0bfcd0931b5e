package cloneset

import (
	"errors"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
)

// Metrics receives what the controller measures of itself.
type Metrics = controller.Metrics

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	// Kubernetes reads and writes pods, claims and revisions. The controller
	// limits its own parallelism; a client-side rate limit (QPS) only slows it down.
	Kubernetes kubernetes.Interface
	// Workloads reads and writes CloneSets.
	Workloads client.Interface

	// Namespace restricts the informers that the controller makes itself.
	// Default: all namespaces.
	Namespace string
	// CloneSets, Pods, Claims, Revisions and Nodes are informers that the
	// caller shares and runs. The controller adds an index to them, so they
	// must not have been started before New. Where one is nil, the controller
	// makes and runs its own, whose objects it keeps small. Nodes are only needed for the rank of pods under topology
	// spread constraints; with NoNodes they are not watched at all.
	CloneSets, Pods, Claims, Revisions, Nodes cache.SharedIndexInformer
	// NoNodes leaves nodes alone: where topology spread constraints rank pods
	// for deletion, every node then counts as a topology of its own.
	NoNodes bool

	// Reader replaces the informers in a Reconciler. A Controller reads its
	// informers and ignores it.
	Reader Reader
	// AllowStaleReads makes passes on caches that cannot tell how far they are,
	// where Reader.Seen returns the empty string. Such a pass may not see what the
	// one before has written: it creates pods twice and deletes too many. Default
	// false: Reconcile returns an error there.
	AllowStaleReads bool
	// Jobs creates and deletes the jobs that pull images ahead of an in-place
	// update; workloads.NewImagePullJobs makes one. Default nil: no image is pulled ahead.
	Jobs workloads.ImagePullJobs
	// Budget is asked before a pod is taken out of service by an update.
	// Default nil: every update is allowed.
	Budget Budget

	// Workers is the number of CloneSets reconciled at the same time. Default 3.
	Workers int
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Recorder receives events about CloneSets. Default nil: no events.
	Recorder record.EventRecorder
	// Metrics defaults to none.
	Metrics Metrics
	// QueueMetrics measures the work queue. Default: none.
	QueueMetrics workqueue.MetricsProvider

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features
}

// Features switches what differs between installations.
type Features struct {
	// ShortHash writes only the hash of a revision, not its whole name, into
	// the label controller-revision-hash. Needed where names of CloneSets are
	// too long for a label value. Pods labelled either way are recognised.
	ShortHash bool
	// PartitionRollback moves pods back to the current revision when the
	// partition is raised.
	PartitionRollback bool
	// ExcludePreparingDelete leaves pods in the state PreparingDelete out of
	// the replicas, for all CloneSets; one CloneSet asks for it by label.
	ExcludePreparingDelete bool
	// NoEnvFromMetadata treats a changed label or annotation as plain
	// metadata, even where the environment of a container refers to it. For
	// clusters whose nodes run no agent.
	NoEnvFromMetadata bool
	// LaunchPriority makes pods whose containers start in the order that the
	// template asks for, without a pod webhook. It needs the controller of
	// package launchpriority to run: nobody else starts these containers.
	LaunchPriority bool
	// PreDownload pulls images to the nodes ahead of an in-place update. It
	// needs Options.Jobs. Containers whose imagePullPolicy is Always, the default
	// in workloads, still ask the registry when they start; they download
	// nothing. With IfNotPresent they start without it.
	PreDownload bool
}

func (o *Options) validate() error {
	var errs []error
	if err := apiwriter.CheckClient(o.Kubernetes); err != nil {
		errs = append(errs, fmt.Errorf("cloneset: Options.Kubernetes %w", err))
	}
	if o.Workloads == nil {
		errs = append(errs, errors.New("cloneset: Options.Workloads is nil: it needs a client of the workload kinds, client.NewForConfig makes one"))
	}
	if o.Features.PreDownload && o.Jobs == nil {
		errs = append(errs, errors.New("cloneset: Options.Features.PreDownload is set, but Options.Jobs is nil: there is nothing to create pull jobs with"))
	}
	if o.Workers < 0 {
		errs = append(errs, errors.New("cloneset: Options.Workers is negative: it is the number of CloneSets reconciled at the same time, 0 means 3"))
	}
	return errors.Join(errs...)
}
