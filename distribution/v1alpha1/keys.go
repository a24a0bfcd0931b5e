// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// FakeNodeImageLabel on a NodeImage keeps it although there is no node of its
// name. Its presence counts, whatever the value. It is for tests.
const FakeNodeImageLabel = "apps.kruise.io/fake-nodeimage"

// DaemonConfigNamespace is the namespace in which the manager keeps the copies of pull secrets. In no
// other do the agents of nodes read secrets.
const DaemonConfigNamespace = "kruise-daemon-config"

// ImagePullJobFinalizer keeps an ImagePullJob of OpenKruise 1.5.2 or later until no copy of a pull secret names it. podwright
// finds such copies without it, and takes it away.
const ImagePullJobFinalizer = "apps.kruise.io/deletion-protection"

// What a copy of a pull secret says of itself.
const (
	// PullSecretSourceAnnotation is the key of the secret that was copied:
	// NAMESPACE/NAME.
	PullSecretSourceAnnotation = "imagepulljobs.kruise.io/source-key"
	// PullSecretSourceUIDLabel is the UID of the secret that was copied. Copies of OpenKruise 1.9 have none.
	PullSecretSourceUIDLabel = "imagepulljobs.kruise.io/source-uid"
	// PullSecretReferencesAnnotation lists the keys of the ImagePullJobs that need
	// the copy, NAMESPACE/NAME, sorted and separated by commas.
	PullSecretReferencesAnnotation = "imagepulljobs.kruise.io/references"
)

// What a pod says of itself that has the kubelet of a node pull an image for a job.
const (
	// PullPodLabel marks such pods. Its presence counts, whatever the value.
	PullPodLabel = "imagepulljobs.podwright.io/pull"
	// PullPodTaskAnnotation says in JSON which attempt at which task of which node the
	// pod is.
	PullPodTaskAnnotation = "imagepulljobs.podwright.io/task"
)

// Defaults and bounds of ImagePullJobs and NodeImages.
const (
	// DefaultImagePullParallelism is how many nodes pull at the same time for a
	// job that does not say parallelism. It is not written into the job.
	DefaultImagePullParallelism = 1
	// DefaultImagePullTimeoutSeconds is the default of timeoutSeconds in a pull policy.
	DefaultImagePullTimeoutSeconds = 600
	// DefaultImagePullBackoffLimit is the default of backoffLimit in a pull policy.
	DefaultImagePullBackoffLimit = 3
	// DefaultImageTag is the tag of an image that is named without one.
	DefaultImageTag = "latest"
	// MaxNodeImageImages is the number of images that a NodeImage may have.
	MaxNodeImageImages = 256
	// MaxImageListPullJobImages is the number of images that an ImageListPullJob may have.
	MaxImageListPullJobImages = 255
)

// Messages in the status of an ImagePullJob.
const (
	// ImagePullJobMessageCompleted: every node has succeeded or failed.
	ImagePullJobMessageCompleted = "job has completed"
	// ImagePullJobMessageDeadline: activeDeadlineSeconds are over.
	ImagePullJobMessageDeadline = "job exceeds activeDeadlineSeconds"
	// ImagePullJobMessageNoProgress: the job goes on, and there is no node for it.
	ImagePullJobMessageNoProgress = "job is running, no progress"
	// ImagePullJobMessageProgressFormat: the job goes on; it takes the
	// percentage of the nodes that have succeeded or failed.
	ImagePullJobMessageProgressFormat = "job is running, progress %.1f%%"
)

// Messages of a tag in the status of a NodeImage.
const (
	// ImagePullMessageNoResponse: the node has not reported anything.
	ImagePullMessageNoResponse = "node has not responded for a long time"
	// ImagePullMessageDeadline: activeDeadlineSeconds are over.
	ImagePullMessageDeadline = "pulling exceeds the activeDeadlineSeconds"
)

// Events on a NodeImage and on the owners of its tags.
const (
	// ImagePullEventSucceed is the reason of a Normal event on the NodeImage.
	ImagePullEventSucceed = "PullImageSucceed"
	// ImagePullEventFailed is the reason of a Warning event on the NodeImage and
	// on every owner of the tag.
	ImagePullEventFailed = "PullImageFailed"
	// ImagePullAgentEventSource is the component of events that node agents report.
	ImagePullAgentEventSource = "kruise-daemon-imagepuller"
	// ImagePullManagerEventSource is the component of events that the controller
	// of NodeImages reports.
	ImagePullManagerEventSource = "nodeimage-controller"
)
