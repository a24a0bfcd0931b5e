package statefulset

// Features switches what differs between installations. Its zero value is the
// default of every feature.
type Features struct {
	// NoAutoDeleteClaims ignores spec.persistentVolumeClaimRetentionPolicy;
	// owners of claims are left as they are.
	NoAutoDeleteClaims bool
	// NoEnvFromMetadata treats a changed label or annotation as plain
	// metadata, even where the environment of a container refers to it. For
	// clusters whose nodes run no agent.
	NoEnvFromMetadata bool
	// PreDownload pulls images to the nodes ahead of an in-place update. It
	// needs Options.Jobs.
	PreDownload bool
}
