-- Its place is taken by lanes_of_corridor.
drop index lanes_by_corridor;
