// SPDX-License-Identifier: Apache-2.0

package v1alpha1

const (
	// EphemeralJobEnv is the environment variable of an injected container that holds the
	// UID of its EphemeralJob. It is the last one, and the only mark of who injected the
	// container.
	EphemeralJobEnv = "KRUISE_EJOB_ID"
	// EphemeralJobFinalizer is a finalizer of every EphemeralJob that its controller has
	// seen. It is removed once the job is being deleted; what was injected stays.
	EphemeralJobFinalizer = "apps.kruise.io/ephemeralcontainers-cleanup"

	// EphemeralJobUniqueNamesAnnotation of an EphemeralJob with the value "true" gives the
	// containers that it injects from then on names that no other job has. They are the name in the
	// template, a dash and five characters that follow from the UID of the job. So a job
	// that is deleted and created again runs once more in the same pods. OpenKruise does not
	// know it.
	EphemeralJobUniqueNamesAnnotation = "ephemeraljobs.podwright.io/unique-names"
)

// DefaultEphemeralJobTTLSecondsAfterFinished is what a nil ttlSecondsAfterFinished stands for.
const DefaultEphemeralJobTTLSecondsAfterFinished = 1800

// What EphemeralJobStatus.PodResults holds at most.
const (
	// MaxEphemeralJobPodResults is the largest number of results.
	MaxEphemeralJobPodResults = 1000
	// MaxEphemeralJobMessage is the length of the longest message of a result, in bytes. Of
	// a longer one the end is kept.
	MaxEphemeralJobMessage = 1024
	// MaxEphemeralJobMessages is how long all messages are together, in bytes. Results
	// after that have none.
	MaxEphemeralJobMessages = 256 * 1024
)
