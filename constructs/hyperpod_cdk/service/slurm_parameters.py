"""Settings of slurm.conf, by what Slurm's own parser takes.

Measured: the table `slurm_conf_options` in libslurmfull.so of Debian's Slurm 22.05.8 and 24.11.5, both
together; what becomes of other values, with `scontrol show config` of both.
"""

from collections.abc import Mapping


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHORT_NUMBERS = _names(
    """
    AccountingStoragePort AcctGatherNodeFreq BatchStartTimeout CompleteWait EioTimeout ExtSensorsFreq
    FairShareDampeningFactor FastSchedule GetEnvTimeout GroupUpdateForce GroupUpdateTime
    HealthCheckInterval InactiveLimit JobFileAppend JobRequeue KillOnBadExit KillWait MaxTasksPerNode
    MessageTimeout OverTimeLimit PrologEpilogTimeout PropagatePrioProcess ResumeRate ResumeTimeout
    ResvOverRun ReturnToService SchedulerTimeSlice SlurmctldTimeout SlurmdTimeout SlurmSchedLogLevel
    SuspendRate SuspendTimeout TCPTimeout TreeWidth UnkillableStepTimeout VSizeFactor WaitTime
    """
)
"""16 bits: 0 to 65535, UNLIMITED or INFINITE."""
NUMBERS = _names(
    """
    DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode EpilogMsgTime FirstJobId JobCompPort
    KeepAliveTime MaxArraySize MaxBatchRequeue MaxDBDMsgs MaxJobCount MaxJobId MaxMemPerCPU
    MaxMemPerNode MaxNodeCount MaxStepCount MinJobAge PriorityWeightAge PriorityWeightAssoc
    PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS SlurmdPort
    """
)
"""32 or 64 bits; k and m after the digits multiply."""
TRUTHS = _names(
    """
    AccountingStoreJobComment AllowSpecResourcesUsage DisableRootJobs PriorityFavorSmall TrackWCKey
    UsePAM
    """
)
"""Yes or no."""
OTHERS = _names(
    """
    AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost
    AccountingStorageHost AccountingStorageLoc AccountingStorageParameters AccountingStoragePass
    AccountingStorageTRES AccountingStorageType AccountingStorageUser AccountingStoreFlags
    AcctGatherEnergyType AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType
    AcctGatherProfileType AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr BackupController
    BcastExclude BcastParameters BurstBufferParameters BurstBufferType CertmgrParameters CertmgrType
    CliFilterPlugins ClusterName CommunicationParameters ControlAddr ControlMachine CoreSpecPlugin
    CpuFreqDef CpuFreqGovernors CredType CryptoType DataParserParameters DebugFlags DependencyParameters
    DownNodes EnforcePartLimits Epilog EpilogSlurmctld ExtSensorsType FederationParameters FrontendName
    GpuFreqDef GresTypes HashPlugin HealthCheckNodeState HealthCheckProgram InteractiveStepOptions
    JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType JobCompHost JobCompLoc JobCompParams
    JobCompPass JobCompType JobCompUser JobContainerType JobCredentialPrivateKey
    JobCredentialPublicCertificate JobSubmitPlugins LaunchParameters LaunchType Licenses LogTimeFormat
    MailDomain MailProg MCSParameters MCSPlugin MpiDefault MpiParams NodeFeaturesPlugins NodeName
    NodeSet PartitionName PluginDir PlugStackConfig PowerParameters PowerPlugin PreemptExemptTime
    PreemptMode PreemptParameters PreemptType PrEpParameters PrEpPlugins PriorityCalcPeriod
    PriorityDecayHalfLife PriorityFlags PriorityMaxAge PriorityParameters PrioritySiteFactorParameters
    PrioritySiteFactorPlugin PriorityType PriorityUsageResetPeriod PriorityWeightTRES PrivateData
    ProctrackType Prolog PrologFlags PrologSlurmctld PropagateResourceLimits
    PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit RequeueExitHold
    ResumeFailProgram ResumeProgram ResvEpilog ResvProlog RoutePlugin SallocDefaultCommand
    SbcastParameters SchedulerAuth SchedulerParameters SchedulerType ScronParameters SelectType
    SelectTypeParameters SlurmctldAddr SlurmctldDebug SlurmctldHost SlurmctldLogFile SlurmctldParameters
    SlurmctldPidFile SlurmctldPlugstack SlurmctldPort SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg
    SlurmctldSyslogDebug SlurmdDebug SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdSpoolDir
    SlurmdSyslogDebug SlurmdUser SlurmSchedLogFile SlurmUser SrunEpilog SrunPortRange SrunProlog
    StateSaveLocation SuspendExcNodes SuspendExcParts SuspendExcStates SuspendProgram SuspendTime
    SwitchParameters SwitchType TaskEpilog TaskPlugin TaskPluginParam TaskProlog TLSParameters TLSType
    TmpFS TopologyParam TopologyPlugin UnkillableStepProgram X11Parameters
    """
)
"""Text, lists, and lines of several settings."""
SHORT_HIGHEST = 65535
TRUE_OR_FALSE = ("yes", "up", "true", "1", "no", "down", "false", "0")
_LEVELS = (
    *("quiet", "fatal", "error", "info", "verbose"),
    *("debug", "debug2", "debug3", "debug4", "debug5"),
    *map(str, range(10)),
)
_RESETS = ("none", "now", "daily", "weekly", "monthly", "quarterly", "yearly")
_PREEMPTIONS = ("off", "cancel", "gang", "priority", "requeue", "suspend", "within")
_PROLOG = (
    *("alloc", "contain", "deferbatch", "forcerequeueonfail"),
    *("nohold", "report", "runinjob", "serial", "x11"),
)
WORDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("SlurmctldDebug", "SlurmdDebug", "SlurmctldSyslogDebug", "SlurmdSyslogDebug"), _LEVELS),
    "PriorityUsageResetPeriod": _RESETS,
    "PreemptMode": _PREEMPTIONS,
    "PrologFlags": _PROLOG,
}
"""Words at which Slurm ends where they are others; commas separate several (slurm.conf(5), and measured)."""
TIMES = frozenset({"PriorityDecayHalfLife", "PriorityMaxAge"})
"""Minutes, or days-hours, or days-hours:minutes, or hours:minutes:seconds."""
EXCLUSIVE = (("DefMemPerNode", "DefMemPerCPU"), ("MaxMemPerNode", "MaxMemPerCPU"))
"""Pairs of which the second is ignored."""
ALL = SHORT_NUMBERS | NUMBERS | TRUTHS | OTHERS
